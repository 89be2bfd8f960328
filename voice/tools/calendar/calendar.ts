/** The calendar tools' interface to a calendar service. */

export interface CalendarAccess {
  /** A number, as in `123`, or a name, as in `user/meeting`. */
  readonly eventType: string;
  readonly apiKey: string;
  /** IANA name of the time zone. */
  readonly timeZone: string;
  readonly signal: AbortSignal;
}

export interface Slot {
  /** Start of the slot, as ISO 8601 with the offset of the time zone that was asked for. */
  readonly start: string;
}

export interface NewBooking {
  /** Start of the booking, as ISO 8601 in UTC. */
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
  /** There was no answer, or a server error. */
  | 'unavailable'
  /** The key is wrong, or the event type unknown. */
  | 'refused'
  /** The request is impossible: the slot is taken, an address is invalid. */
  | 'rejected';

/** `message` is for the model, in words for a caller; the rest is for the log. None has secrets. */
export class CalendarError extends Error {
  override readonly name = 'CalendarError';
  readonly kind: CalendarErrorKind;
  /** Status of the answer; undefined where none came. */
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
   * Returns the free slots that begin within the days, in their order. Days are dates of the time zone, both included.
   * @throws CalendarError
   */
  slots(access: CalendarAccess, days: { readonly from: string; readonly to: string }): Promise<readonly Slot[]>;
  /** Books a slot. @throws CalendarError; a booking that may have been made in spite of it is `unavailable` */
  book(access: CalendarAccess, booking: NewBooking): Promise<Booking>;
}
