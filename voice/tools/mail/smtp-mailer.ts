/** Sends through SMTP, always encrypted: it carries the password of the account. */
import { isIP } from 'node:net';

import { createTransport } from 'nodemailer';
import wellKnown from 'nodemailer/lib/well-known';

import { errorCodeOf } from '../../../platform/caught.ts';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import type { SmtpServer, SmtpServers } from '../../../platform/config/smtp-servers.ts';
import { type Mail, type Mailer, MailError, type MailErrorKind } from './mailer.ts';

export interface SmtpMailerOptions {
  readonly servers: SmtpServers;
  /** Certificates (PEM) to trust instead of the public ones. */
  readonly ca?: string;
  /** Longest time for one mail, in milliseconds; default 20,000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

export function createSmtpMailer({ servers, ca, timeoutMs = 20_000, clock = systemClock }: SmtpMailerOptions): Mailer {
  return {
    async send(mail, signal) {
      const server = smtpServerOf(mail.from, servers);
      if (server === undefined) {
        const domain = mail.from.slice(mail.from.lastIndexOf('@') + 1);
        throw new MailError('no_server', `no mail server is known for ${domain}: the operator can name one in PARLEY_SMTP_SERVERS`);
      }
      const limit = new AbortController();
      const timer = clock.after(timeoutMs, () => limit.abort(new DOMException('the time is up', 'TimeoutError')));
      const limited = AbortSignal.any([signal, limit.signal]);
      const transport = createTransport({
        ...encryption(server, ca),
        host: server.host,
        port: server.port,
        auth: { user: mail.from, pass: mail.password },
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        dnsTimeout: timeoutMs,
        // The content of a mail never makes it read files or URLs.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      let handedOver = false;
      // The content is read after the server's go-ahead, and its end is the last thing that the server gets.
      transport.use('stream', ({ message }, done) => {
        message.processFunc((content) => content.once('end', () => (handedOver = true)));
        done();
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
        if (handedOver && codeOf(error) !== 'EMESSAGE') {
          const message = `${server.host} may have got the mail and did not answer (${codeOf(error)}): it may have been sent, look there first`;
          throw new MailError('unknown', message);
        }
        if (limited.aborted && !signal.aborted) {
          throw new MailError('unreachable', `${server.host} did not take the mail within ${timeoutMs / 1000} seconds`);
        }
        throw toMailError(error, server, mail);
      } finally {
        timer.cancel();
        transport.close();
      }
    },
  };
}

/** Returns the encryption. A server on this machine needs none, and no public certificate. */
function encryption({ host, secure }: SmtpServer, ca: string | undefined) {
  return {
    secure,
    requireTLS: !secure && !isLoopback(host),
    tls: { minVersion: 'TLSv1.2' as const, rejectUnauthorized: !isLoopback(host), ...(ca !== undefined && { ca }) },
  };
}

const ERROR_KINDS: Readonly<Record<string, MailErrorKind>> = {
  EAUTH: 'refused',
  EENVELOPE: 'rejected',
  EMESSAGE: 'rejected',
  EDNS: 'unreachable',
};

const codeOf = (error: unknown): string => errorCodeOf(error) ?? 'no reason given';

/** Words a failure without the server's own text, which repeats the address and the content. */
function toMailError(error: unknown, { host }: SmtpServer, { from }: Mail): MailError {
  const code = codeOf(error);
  const { responseCode } = error as { responseCode?: number };
  const kind = ERROR_KINDS[code] ?? 'unreachable';
  if (kind === 'refused') return new MailError(kind, `${host} does not take the password of ${from} (${responseCode ?? code})`);
  if (kind === 'rejected') return new MailError(kind, `${host} does not take the mail (${responseCode ?? code})`);
  return new MailError(kind, `${host} could not be reached, or not safely (${code})`);
}

/** Returns the server that sends for a domain: the operator's, or that of a large provider; undefined for any other domain. */
export function smtpServerOf(address: string, servers: SmtpServers): SmtpServer | undefined {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const named = servers.get(domain) ?? servers.get('*');
  if (named !== undefined) return named;
  const known = wellKnown(domain);
  if (known === false || known.host === undefined || isLoopback(known.host)) return undefined;
  const port = Number(known.port ?? (known.secure === true ? 465 : 587));
  return { host: known.host, port, secure: known.secure ?? port === 465 };
}

/** Returns whether mail to a host stays on the machine. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
