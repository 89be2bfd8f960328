import type { CelRule } from '../schema.ts';

/** A structural schema node, with just the keywords that Parley uses. */
export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: 'int32' | 'int64' | 'date-time';
  description?: string;
  default?: unknown;
  nullable?: boolean;
  enum?: readonly string[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: StructuralSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  required?: readonly string[];
  minProperties?: number;
  maxProperties?: number;
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-validations'?: readonly CelRule[];
}
