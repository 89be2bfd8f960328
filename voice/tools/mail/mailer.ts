/** The e-mail tool's interface to a mail server. */

export interface Mail {
  readonly from: string;
  /** Password of the sender's account. */
  readonly password: string;
  /** Address of the one recipient. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export type MailErrorKind =
  /** The server of the sender's domain is unknown. */
  | 'no_server'
  /** The server refuses the account's password. */
  | 'refused'
  /** The server refuses the recipient or the message. */
  | 'rejected'
  /** There was no connection, no encryption, or no answer in time. */
  | 'unreachable'
  /** The server may have got the whole message, and did not answer: it may have sent it. */
  | 'unknown';

/** `message` says what happened and what to do, for the log: without secrets, and without what was sent. */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly kind: MailErrorKind;

  constructor(kind: MailErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface Mailer {
  /** Sends a mail. @throws MailError */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
}
