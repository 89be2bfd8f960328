/** Types in the history of a housekeeping: names of organisations and counts, nothing else. */

export interface Totals {
  readonly organizations: number;
  readonly revisions: number;
  readonly apiKeys: number;
}

export interface HousekeepingState {
  /** The name of the last organisation that was dealt with; '' at the beginning. */
  readonly after: string;
  readonly totals: Totals;
  /** Organisations whose turn failed for good, the first 100 of them. */
  readonly failed: readonly string[];
}

export interface Tidied {
  readonly revisions: number;
  readonly apiKeys: number;
}

/** Activities do the work outside the workflow. */
export interface HousekeepingActivities {
  /** Makes the tables of future events and drops the expired ones. */
  tidyEvents(): Promise<void>;
  /** Returns up to `limit` names behind `after`, sorted. */
  organizationsAfter(page: { readonly after: string; readonly limit: number }): Promise<readonly string[]>;
  /** Deletes what one organisation no longer needs, in batches, with a heartbeat after each. */
  tidyOrganization(organization: string): Promise<Tidied>;
}
