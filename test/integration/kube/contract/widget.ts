/** Defines a kind with one field for each rule. */
import type { Condition, KubeObject, ResourceDescriptor } from '../../../../kube/index.ts';

export interface Widget extends KubeObject {
  readonly spec?: {
    readonly title?: string;
    readonly start?: number;
    readonly end?: number;
    readonly size?: string;
    readonly nested?: { readonly a?: string; readonly b?: string };
    readonly free?: Readonly<Record<string, unknown>>;
    readonly map?: Readonly<Record<string, string>>;
    readonly tags?: readonly string[];
    readonly set?: readonly string[];
    readonly ports?: readonly { readonly name: string; readonly port?: number; readonly note?: string }[];
    readonly atomic?: { readonly x?: string; readonly y?: string };
    readonly [unknown: string]: unknown;
  };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Partial<Condition>[]; readonly [unknown: string]: unknown };
}

const string = { type: 'string' };

export const widgetDescriptor: ResourceDescriptor = {
  group: 'contract.parley.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.contract.parley.dev' },
  spec: {
    group: 'contract.parley.dev',
    scope: 'Namespaced',
    names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                'x-kubernetes-validations': [
                  { rule: '!has(self.end) || !has(self.start) || self.end >= self.start', message: 'end must not be before start' },
                ],
                properties: {
                  title: { type: 'string', maxLength: 20 },
                  start: { type: 'integer' },
                  end: { type: 'integer' },
                  size: { type: 'string', enum: ['small', 'large'], default: 'small' },
                  nested: { type: 'object', properties: { a: string, b: string } },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  map: { type: 'object', additionalProperties: string, maxProperties: 100 },
                  tags: { type: 'array', maxItems: 100, items: string },
                  set: { type: 'array', maxItems: 100, items: string, 'x-kubernetes-list-type': 'set' },
                  ports: {
                    type: 'array',
                    maxItems: 100,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: string, port: { type: 'integer', minimum: 1 }, note: string },
                    },
                  },
                  atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { x: string, y: string } },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: string,
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: { type: 'object', required: ['type'], properties: { type: string, status: string, reason: string } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
