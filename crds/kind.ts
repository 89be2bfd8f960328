import type { z } from 'zod';

import type { Condition, KubeObject, ResourceDescriptor } from '../kube/types.ts';
import type { CelRule } from './schema.ts';

export const GROUP = 'parley.dev';
export const VERSION = 'v1beta1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** A column of `kubectl get`. `date` columns print an age. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** A column above 0 shows only with `-o wide`. */
  readonly priority?: number;
}

/** Everything the generator, the operator and the facade need to know of a kind. */
export interface KindDefinition<S extends z.ZodType = z.ZodType, U extends z.ZodType = z.ZodType> {
  readonly descriptor: ResourceDescriptor;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly printerColumns: readonly PrinterColumn[];
  /** JSON paths usable in `--field-selector`. */
  readonly selectableFields: readonly string[];
  readonly spec: S;
  readonly status: U;
  /** CEL rules about the object as a whole: of its metadata they see the name alone. */
  readonly rules?: readonly CelRule[];
}

export interface CommonStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly lastHandledReconcileAt?: string | undefined;
}

/** An object of one of the six kinds as the API server stores it (defaults filled in). */
export interface Resource<Spec, Status extends CommonStatus = CommonStatus> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status;
}

export function defineKind<S extends z.ZodType, U extends z.ZodType>(
  kind: string,
  plural: string,
  rest: Omit<KindDefinition<S, U>, 'descriptor' | 'singular' | 'selectableFields'> & { readonly selectableFields?: readonly string[] },
): KindDefinition<S, U> {
  return {
    descriptor: { group: GROUP, version: VERSION, kind, plural, namespaced: true },
    singular: kind.toLowerCase(),
    selectableFields: [],
    ...rest,
  };
}

/** Builds every kind's first column: the name by which people call the object. */
export const displayNameColumn = (): PrinterColumn => ({
  name: 'DisplayName',
  type: 'string',
  jsonPath: '.spec.displayName',
});

export const readyColumn: PrinterColumn = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
};

/** Says why it is or isn't ready, next to `Ready`. */
export const reasonColumn: PrinterColumn = {
  name: 'Reason',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
};

/** Shows, as for a CronJob, why `Ready` and `Reason` are empty: what is suspended has neither. */
export const suspendColumn: PrinterColumn = { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' };

export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

interface WithConditions {
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

export function findCondition(object: WithConditions | undefined, type: string): Condition | undefined {
  return object?.status?.conditions?.find((condition) => condition.type === type);
}

/** Returns `Ready`, or `Suspended` in its place. */
export function findSummary(object: WithConditions | undefined): Condition | undefined {
  return findCondition(object, 'Ready') ?? findCondition(object, 'Suspended');
}
