/** What the calendar tools need of a calendar service. */

export interface CalendarAccess {
  /** Number, or a name as in `user/meeting`. */
  readonly eventType: number | string;
  readonly apiKey: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly signal: AbortSignal;
}

export interface Slot {
  /** ISO 8601 with the offset of the time zone that was asked for. */
  readonly start: string;
}

export interface NewBooking {
  /** The moment, as ISO 8601 in UTC. */
  readonly start: string;
  readonly name: string;
  readonly email: string;
  readonly phone?: string | undefined;
  readonly notes?: string | undefined;
}

export interface Booking {
  readonly id: string;
  readonly start: string;
  readonly status: string;
}

export type CalendarErrorKind =
  /** No answer, or a server error. */
  | 'unavailable'
  /** A wrong key, or an unknown event type. */
  | 'refused'
  /** An impossible request: the slot is taken, an address is invalid. */
  | 'rejected';

/** `message` is for the model, in words for a caller; the rest is for the log. None has secrets. */
export class CalendarError extends Error {
  override readonly name = 'CalendarError';
  readonly kind: CalendarErrorKind;
  /** Of the answer; undefined where none came. */
  readonly status: number | undefined;
  readonly reason: string;

  constructor(
    kind: CalendarErrorKind,
    message: string,
    { status, reason = message }: { readonly status?: number; readonly reason?: string } = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.reason = reason;
  }
}

export interface Calendar {
  /**
   * Free slots that begin within the days, in their order. Days are dates of the time zone, both included.
   * @throws CalendarError
   */
  slots(access: CalendarAccess, days: { readonly from: string; readonly to: string }): Promise<readonly Slot[]>;
  /** @throws CalendarError; a booking that may have been made in spite of it is `unavailable` */
  book(access: CalendarAccess, booking: NewBooking): Promise<Booking>;
}
