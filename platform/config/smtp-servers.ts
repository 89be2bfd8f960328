/** A mail server, as the operator names it. */

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Set for TLS from the first byte; otherwise STARTTLS. */
  readonly secure: boolean;
}

/** Mail servers by domain; `*` is for all others. */
export type SmtpServers = ReadonlyMap<string, SmtpServer>;

/**
 * Reads `domain=smtp://host:port` and `domain=smtps://host:port`; the domain `*` is for all without an entry of their own.
 *
 * @throws RangeError naming the part that can't be read
 */
export function parseSmtpServers(items: readonly string[]): SmtpServers {
  return new Map(
    items.map((item) => {
      const [, domain = '', address = ''] = /^([a-z0-9.-]{1,253}|\*)=(smtps?:\/\/.+)$/i.exec(item) ?? [];
      const url = URL.parse(address);
      if (domain === '' || url === null || url.hostname === '' || /[@?#]/.test(address) || !/^\/?$/.test(url.pathname)) {
        throw new RangeError(
          `${JSON.stringify(item)} names no mail server: write it as example.com=smtp://mail.example.com:587 or *=smtps://relay.example:465`,
        );
      }
      const secure = url.protocol === 'smtps:';
      const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
      return [domain.toLowerCase(), { host: url.hostname.replace(/^\[|\]$/g, ''), port, secure }] as const;
    }),
  );
}
