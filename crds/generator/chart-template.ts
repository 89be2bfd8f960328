import type { CustomResourceDefinition } from './crd.ts';
import { toYaml } from './yaml.ts';

/** Stands where the directive goes, until the text is escaped. */
const MARK = 'helm.sh/parley-metadata';

/**
 * Turns the CRD into a template of the subchart `crds`. It is in `templates/`, not in Helm's `crds/`, so that an upgrade of the chart
 * upgrades it; `keep` leaves it (and with it every resource) in the cluster when the release goes. All of them share metadata, which is in
 * the subchart's `_metadata.tpl`.
 */
export function toChartTemplate(crd: CustomResourceDefinition): string {
  const marked = toYaml({ ...crd, metadata: { ...crd.metadata, annotations: { [MARK]: '' } } });
  const escaped = marked.replaceAll(/\{\{|\}\}/g, (braces) => `{{ "${braces}" }}`);
  const line = new RegExp(`^  annotations:\\n    ${MARK}: ""\\n`, 'm');
  if (!line.test(escaped)) throw new Error(`the annotations of ${crd.metadata.name} are not where the template expects them`);
  return escaped.replace(line, () => `  {{- include "crds.metadata" . | nindent 2 }}\n`);
}
