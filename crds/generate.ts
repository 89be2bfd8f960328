import { toChartTemplate } from './generator/chart-template.ts';
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

/** Returns the CustomResourceDefinitions of the six kinds, as they are installed. */
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
