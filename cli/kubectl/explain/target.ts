import { kinds, type KindDefinition } from '../../../crds/index.ts';
import { UserError } from '../../../platform/user-error.ts';

export interface ExplainTarget {
  readonly kind: KindDefinition;
  readonly name: string;
}

/**
 * Reads `<kind>/<name>`; the kind as kubectl takes it: `agent`, `agents`, `Agent`, `agents.parley.dev` or a short name.
 *
 * @throws UserError for anything else
 */
export function parseTarget(text: string): ExplainTarget {
  const [kindText, name, ...rest] = text.split('/');
  const wanted = kindText?.toLowerCase().replace(/\.parley\.dev$/, '') ?? '';
  const kind = (kinds as readonly KindDefinition[]).find(({ descriptor, singular, shortNames }) =>
    [descriptor.plural, singular, ...shortNames].includes(wanted),
  );
  const known = (kinds as readonly KindDefinition[])
    .map(({ singular, shortNames }) => [singular, ...shortNames.filter((short) => short !== singular)].join(' or '))
    .join(', ');
  if (name === undefined || name === '' || rest.length > 0)
    throw new UserError(`"${text}" names no object`, { cure: 'write <kind>/<name>, as in agent/receptionist' });
  if (kind === undefined) throw new UserError(`there is no kind "${kindText}"`, { cure: `use one of: ${known}` });
  return { kind, name };
}
