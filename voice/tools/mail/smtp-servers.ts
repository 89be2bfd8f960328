/** Which mail server sends for which domain: what the operator says, or what everybody knows of the large providers. */
import { isIP } from 'node:net';

import wellKnown from 'nodemailer/lib/well-known';

import type { SmtpServer, SmtpServers } from '../../../platform/config/smtp-servers.ts';

/** @returns undefined for a domain that nobody knows the server of */
export function smtpServerOf(address: string, servers: SmtpServers): SmtpServer | undefined {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const named = servers.get(domain) ?? servers.get('*');
  if (named !== undefined) return named;
  const known = wellKnown(domain);
  if (known === false || known.host === undefined || isLoopback(known.host)) return undefined;
  const port = Number(known.port ?? (known.secure === true ? 465 : 587));
  return { host: known.host, port, secure: known.secure ?? port === 465 };
}

/** What goes there doesn't leave the machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
