import { GROUP, VERSION, type KindDefinition, type PrinterColumn } from '../kind.ts';
import { withExplainText } from './explain-text.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { toStructuralSchema } from './structural.ts';

export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly scope: 'Namespaced' | 'Cluster';
    readonly versions: readonly CrdVersion[];
  };
}

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources: { readonly status: Readonly<Record<string, never>> };
  readonly additionalPrinterColumns: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** `kubectl get parley` lists all kinds. */
const CATEGORY = 'parley';

/** A CRD beyond this size makes client-side apply fail (its annotation holds a copy of the object) and discovery slow. Bytes of JSON. */
export const MAX_CRD_BYTES = 64 * 1024;

/**
 * Builds the CustomResourceDefinition of a kind.
 * @throws StructuralSchemaError when its schema holds what a CRD can't.
 * @throws Error when it is larger than {@link MAX_CRD_BYTES}.
 */
export function toCustomResourceDefinition(definition: KindDefinition): CustomResourceDefinition {
  const { kind, plural } = definition.descriptor;
  const crd: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: definition.singular,
        shortNames: definition.shortNames,
        categories: [CATEGORY],
      },
      scope: definition.descriptor.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: rootSchema(definition) },
          subresources: { status: {} },
          additionalPrinterColumns: definition.printerColumns,
          ...(definition.selectableFields.length === 0
            ? {}
            : { selectableFields: definition.selectableFields.map((jsonPath) => ({ jsonPath })) }),
        },
      ],
    },
  };
  const bytes = Buffer.byteLength(JSON.stringify(crd));
  if (bytes >= MAX_CRD_BYTES)
    throw new Error(
      `the CRD of ${kind} has ${bytes} bytes of JSON, ${MAX_CRD_BYTES} are the limit: shorten descriptions or share less structure`,
    );
  return crd;
}

function rootSchema(definition: KindDefinition): StructuralSchema {
  const { kind } = definition.descriptor;
  return {
    type: 'object',
    description: definition.description,
    properties: {
      apiVersion: { type: 'string', description: `${GROUP}/${VERSION}` },
      kind: { type: 'string', description: kind },
      metadata: { type: 'object' },
      spec: { ...withExplainText(toStructuralSchema(definition.spec, `${kind}.spec`)), description: 'What is wanted.' },
      status: {
        ...withExplainText(toStructuralSchema(definition.status, `${kind}.status`)),
        description: 'What the operator last saw.',
        // Flux has the same default: kstatus takes an object without a status for current, and a GitOps tool would not wait for the
        // operator.
        default: { observedGeneration: -1 },
      },
    },
    required: ['spec'],
    ...(definition.rules !== undefined && { 'x-kubernetes-validations': definition.rules }),
  };
}
