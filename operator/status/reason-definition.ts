/** Condition types, in the order in which they are written. */
export const conditionTypes = [
  'Ready',
  'Suspended',
  'Accepted',
  'ResolvedRefs',
  'Tested',
  'Synced',
  'UpToDate',
  'EndpointHealthy',
  'BudgetExceeded',
  'Progressing',
  'Ingesting',
  'Reconciling',
  'Stalled',
] as const;
export type ConditionType = (typeof conditionTypes)[number];

export interface ReasonDefinition {
  /** The stage the reason belongs to; `Ready`, `Reconciling` and `Stalled` repeat the reason of the stage that failed. */
  readonly condition: Exclude<ConditionType, 'Progressing' | 'Stalled'>;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly meaning: string;
  /** Says what a person does about it; absent where nothing needs doing. */
  readonly cure?: string;
  /**
   * `person`: a person has to change something, so `Stalled` is set.
   * `retry`: the operator retries, so `Reconciling` is set.
   * Absent: does not keep the object from being ready.
   */
  readonly blocks?: 'person' | 'retry';
  /** `Progressing` has this status with the reason, also where the stage has another one. */
  readonly progressing?: 'True' | 'False';
}

/** The reason of a stage that fails until a person changes something. */
export function stalled(
  condition: ReasonDefinition['condition'],
  { meaning, cure }: Required<Pick<ReasonDefinition, 'meaning' | 'cure'>>,
): ReasonDefinition {
  return { condition, status: 'False', meaning, cure, blocks: 'person' };
}
