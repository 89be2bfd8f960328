/** What the e-mail tool needs of a mail server. */

export interface Mail {
  readonly from: string;
  /** Of the sender's account. */
  readonly password: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export type MailErrorKind =
  /** Nobody knows the server of the sender's domain. */
  | 'no_server'
  /** The server doesn't take the account's password. */
  | 'refused'
  /** The server doesn't take the recipient or the message. */
  | 'rejected'
  /** It can't be reached, not safely, or not in time. */
  | 'unreachable';

/** `message` says what happened and what to do, without secrets. */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly kind: MailErrorKind;

  constructor(kind: MailErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface Mailer {
  /** @throws MailError */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
}
