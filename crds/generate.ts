import { toCustomResourceDefinition, type CustomResourceDefinition } from './generator/crd.ts';
import { toYaml } from './generator/yaml.ts';
import { kinds } from './index.ts';

export type { CustomResourceDefinition } from './generator/crd.ts';
export type { StructuralSchema } from './generator/structural-schema.ts';

/** A file made from the sources; `path` is relative to the repository root. */
export interface GeneratedFile {
  readonly path: string;
  readonly content: string;
}

export function customResourceDefinitions(): readonly CustomResourceDefinition[] {
  return kinds.map((kind) => toCustomResourceDefinition(kind));
}

/** Makes the CRDs as plain manifests (`kubectl apply -f crds/generated/`) and as templates of the subchart `crds`. */
export function generateCrds(): readonly GeneratedFile[] {
  return customResourceDefinitions().flatMap((crd) => {
    const file = `${crd.spec.names.plural}.yaml`;
    return [
      { path: `crds/generated/${file}`, content: toYaml(crd) },
      { path: `charts/parley/charts/crds/templates/${file}`, content: toChartTemplate(crd) },
    ];
  });
}

/** Stands where the directive goes, until the text is escaped. */
const MARK = 'helm.sh/parley-metadata';

/**
 * Turns the CRD into a template of the subchart `crds`. It is in `templates/`, not in Helm's `crds/`, so that an upgrade of the chart
 * upgrades it; `keep` leaves it (and with it every resource) in the cluster when the release goes. All of them share metadata, which is in
 * the subchart's `_metadata.tpl`.
 */
function toChartTemplate(crd: CustomResourceDefinition): string {
  const marked = toYaml({ ...crd, metadata: { ...crd.metadata, annotations: { [MARK]: '' } } });
  const escaped = marked.replaceAll(/\{\{|\}\}/g, (braces) => `{{ "${braces}" }}`);
  const line = new RegExp(`^  annotations:\\n    ${MARK}: ""\\n`, 'm');
  if (!line.test(escaped)) throw new Error(`the annotations of ${crd.metadata.name} are not where the template expects them`);
  return escaped.replace(line, () => `  {{- include "crds.metadata" . | nindent 2 }}\n`);
}
