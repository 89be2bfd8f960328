import { formatValue } from '../../../crds/template.ts';
import type { ToolSpec } from '../../../crds/index.ts';
import { createArgumentCheck } from '../arguments.ts';
import type { ReadSecret } from '../http/headers.ts';
import { MailError, type MailErrorKind, type Mailer } from '../mail/mailer.ts';
import { failure, type BuiltinToolOptions, type ToolDefinition } from '../tool-result.ts';

export interface SendEmailOptions extends BuiltinToolOptions<NonNullable<ToolSpec['sendEmail']>> {
  readonly readSecret: ReadSecret;
  readonly mailer: Mailer;
}

const PARAMETERS = {
  type: 'object',
  properties: {
    to: {
      type: 'string',
      maxLength: 320,
      // One recipient is all that fits: a caller's dictation must not become a mailing list.
      pattern: '^[^\\s@<>,;:"()\\[\\]\\\\]+@[^\\s@<>,;:"()\\[\\]\\\\]+$',
      description: 'The e-mail address of the one recipient, for example ada@example.com.',
    },
    subject: { type: 'string', minLength: 1, maxLength: 300, description: 'The subject line.' },
    body: { type: 'string', minLength: 1, maxLength: 20_000, description: 'The text of the mail.' },
  },
  required: ['to', 'subject', 'body'],
  additionalProperties: false,
};

/** Explanations for the model, in words for a caller; the log has the server and what it said. */
const WORDS: Readonly<Record<MailErrorKind, string>> = {
  no_server: 'The mail was not sent: sending mail is not set up correctly.',
  refused: 'The mail was not sent: sending mail is not set up correctly.',
  rejected: 'The mail was not sent: the mail server does not accept the address, or the message.',
  unreachable: 'The mail was not sent: the mail server does not answer at the moment.',
  unknown: 'It is not known whether the mail was sent: the mail server did not answer. Do not send it again before somebody has looked.',
};

export function createSendEmail({ name, spec, description, messages, readSecret, mailer }: SendEmailOptions): ToolDefinition {
  return {
    name,
    description: description ?? 'Sends an e-mail. Have the user spell the address, and read it back, before you send.',
    parameters: PARAMETERS,
    messages,
    refuse: createArgumentCheck(PARAMETERS),
    async run({ to, subject, body }, signal) {
      const password = await readSecret(spec.passwordSecretRef);
      const mail = {
        from: spec.from,
        password,
        to: formatValue(to),
        subject: formatValue(subject).replaceAll(/\s+/g, ' ').trim(),
        text: formatValue(body),
      };
      try {
        await mailer.send(mail, signal);
      } catch (error) {
        if (!(error instanceof MailError)) throw error;
        return failure(WORDS[error.kind], {}, error.kind, error.message);
      }
      return { succeeded: true, forModel: { sent: true, to: mail.to }, detail: 'sent' };
    },
  };
}
