import { wellKnown } from '../../crds/index.ts';
import type { Store } from '../../store/index.ts';
import { UserError } from '../../platform/user-error.ts';
import { withNamespaces } from '../organization-namespaces.ts';

/**
 * Requires an organisation. A namespace becomes one by its label alone, so that one without a row may be one all the same: it gets its row
 * here.
 *
 * @throws UserError when it does not exist
 */
export async function requireOrganization(store: Pick<Store, 'organizations'>, name: string): Promise<void> {
  if ((await store.organizations.get(name)) !== undefined) return;
  let labelled: readonly string[] = [];
  let asked = true;
  try {
    labelled = await withNamespaces((namespaces) => namespaces.list());
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    asked = false;
  }
  if (!labelled.includes(name)) {
    throw new UserError(
      `there is no organisation ${JSON.stringify(name)}${asked ? '' : ' in the database, and Kubernetes can’t be asked'}`,
      {
        cure: `parley org create ${name}, or label its namespace ${wellKnown.organizationLabel}=true`,
      },
    );
  }
  await store.organizations.create({ name });
}
