/**
 * What a look at the world leads to. The actions come first; when they have been carried out the world is looked at
 * again, and the status is written once there are none left.
 */
export interface Plan<Action, Status> {
  readonly actions: readonly Action[];
  /** Absent where the object is on its way out and nothing is to be said. */
  readonly status?: Status;
  /** Look again after this long even if nothing happens, in milliseconds. */
  readonly requeueAfterMs?: number;
  /** Worth an Event beside the transitions of `Ready`. */
  readonly notices?: readonly Notice[];
}

export interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}
