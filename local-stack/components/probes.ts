import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';

interface HttpCheck {
  readonly url: string;
  /** PEM of the authority that signed the server's certificate; without one an https certificate is not checked. */
  readonly ca?: string;
  /** PEM of the client's certificate. */
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  readonly signal: AbortSignal;
}

/** Makes one GET on a connection of its own: a health check must not be answered by a connection to the process before. */
export function httpCheck(check: HttpCheck): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const url = new URL(check.url);
    const options = {
      agent: false,
      signal: check.signal,
      headers: check.token === undefined ? {} : { authorization: `Bearer ${check.token}` },
      ...(check.ca === undefined ? { rejectUnauthorized: false } : { ca: check.ca }),
      ...(check.cert !== undefined && { cert: check.cert, key: check.key }),
    } as const;
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body })).on('error', reject);
    });
    request.on('error', reject).end();
  });
}

/** Tells whether a GET answers 200. */
export async function isOk(url: string, signal: AbortSignal): Promise<boolean> {
  return (await httpCheck({ url, signal })).status === 200;
}

/** Resolves when a server listens on this port of the loopback address. @throws the error of the connection, or the signal's reason */
export function canConnect(port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
