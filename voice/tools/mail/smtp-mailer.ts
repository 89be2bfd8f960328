/** Sends through SMTP, always encrypted: the password of the account goes the same way. */
import { createTransport } from 'nodemailer';

import type { SmtpServer, SmtpServers } from '../../../platform/config/smtp-servers.ts';
import { Redaction } from '../http/redaction.ts';
import { type Mail, MailError, type Mailer, type MailErrorKind } from './mailer.ts';
import { isLoopback, smtpServerOf } from './smtp-servers.ts';

export interface SmtpMailerOptions {
  readonly servers: SmtpServers;
  /** Certificates (PEM) to trust instead of the public ones. */
  readonly ca?: string;
  /** Of one mail, from the connection to the server's word; default 20,000 milliseconds. */
  readonly timeoutMs?: number;
}

export function createSmtpMailer({ servers, ca, timeoutMs = 20_000 }: SmtpMailerOptions): Mailer {
  return {
    async send(mail, signal) {
      const server = smtpServerOf(mail.from, servers);
      if (server === undefined) {
        const domain = mail.from.slice(mail.from.lastIndexOf('@') + 1);
        throw new MailError('no_server', `no mail server is known for ${domain}: the operator can name one in PARLEY_SMTP_SERVERS`);
      }
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const transport = createTransport({
        ...encryption(server, ca),
        host: server.host,
        port: server.port,
        auth: { user: mail.from, pass: mail.password },
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        dnsTimeout: timeoutMs,
        // Nothing that a text says is ever read from a file or fetched.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      try {
        await transport.sendMail({
          from: mail.from,
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          signal: limited,
        });
      } catch (error) {
        if (limited.aborted && !signal.aborted) {
          throw new MailError('unreachable', `${server.host} did not take the mail within ${timeoutMs / 1000} seconds`);
        }
        throw failureOf(error, server, mail);
      } finally {
        transport.close();
      }
    },
  };
}

/** A server on this machine may do without, and needs no certificate that others would believe. */
function encryption({ host, secure }: SmtpServer, ca: string | undefined) {
  return {
    secure,
    requireTLS: !secure && !isLoopback(host),
    tls: { minVersion: 'TLSv1.2' as const, rejectUnauthorized: !isLoopback(host), ...(ca !== undefined && { ca }) },
  };
}

const kinds: Readonly<Record<string, MailErrorKind>> = {
  EAUTH: 'refused',
  EENVELOPE: 'rejected',
  EMESSAGE: 'rejected',
  EDNS: 'unreachable',
};

function failureOf(error: unknown, { host }: SmtpServer, { from, password }: Mail): MailError {
  const { code = '', responseCode, response } = error as { code?: string; responseCode?: number; response?: string };
  const kind = kinds[code] ?? 'unreachable';
  const said = response === undefined ? '' : `: ${new Redaction([password]).text(response).slice(0, 300)}`;
  if (kind === 'refused') return new MailError(kind, `${host} does not take the password of ${from} (${responseCode ?? code})`);
  if (kind === 'rejected') return new MailError(kind, `${host} does not take the mail (${responseCode ?? code})${said}`);
  return new MailError(kind, `${host} could not be reached, or not safely (${code === '' ? 'no reason given' : code})${said}`);
}
