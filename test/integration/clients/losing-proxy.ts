/** Stands between a client and the facade: it keeps what was asked, and loses answers after they were given. */
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { Servers, whole } from '../../support/http-servers.ts';

export interface LosingProxy {
  readonly url: string;
  /** Requests such as `POST /v1/calls/create-web-call`, without the query, in the order in which they came. */
  readonly asked: readonly string[];
  /** Number of answers that were lost. */
  readonly lost: number;
  /** Loses every `count`th answer to a POST from now on: by turns before its first byte and in the middle. 0 loses none. */
  loseEvery(count: number): void;
  close(): Promise<void>;
}

export async function startLosingProxy(target: string): Promise<LosingProxy> {
  const servers = new Servers();
  const { hostname, port } = new URL(target);
  const asked: string[] = [];
  let [every, since, lost] = [0, 0, 0];

  const forward = async (request: IncomingMessage, response: ServerResponse, sent: Buffer): Promise<void> => {
    const { method = 'GET', url: path = '/', headers } = request;
    asked.push(`${method} ${path.split('?')[0]}`);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      ask({ hostname, port, method, path, headers }, resolve).on('error', reject).end(sent);
    });
    const body = await buffer(answer);
    if (method === 'POST') since += 1;
    if (method !== 'POST' || every === 0 || since % every !== 0) {
      response.writeHead(answer.statusCode ?? 500, answer.headers).end(body);
      return;
    }
    lost += 1;
    if (lost % 2 === 1) request.socket.destroy();
    else
      response
        .writeHead(200, { ...answer.headers, 'content-length': body.length })
        .write(body.subarray(0, body.length / 2), () => request.socket.destroy());
  };

  const server = await servers.http(whole((request, response, sent) => forward(request, response, sent)));
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    get lost() {
      return lost;
    },
    loseEvery(count) {
      [every, since] = [count, 0];
    },
    close: () => servers.stop(),
  };
}
