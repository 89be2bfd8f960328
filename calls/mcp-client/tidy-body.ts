/** The bodies of answers of MCP servers, with each message changed before the SDK reads it. */
import type { Transformer } from 'node:stream/web';

import { parseJson } from '../../platform/json.ts';

type Tidy = (message: unknown) => unknown;

/** Tidies the messages of an answer, which is JSON or a stream of events with one message in each line of data. */
export function tidied(answer: Response, tidy: Tidy): Response {
  const { body, status, headers } = answer;
  const type = headers.get('content-type') ?? '';
  if (body === null || status !== 200) return answer;
  const init = { status, headers: withoutLength(headers) };
  if (type.includes('text/event-stream'))
    return new Response(
      byLine(body, (line) => tidyLine(line, tidy)),
      init,
    );
  return type.includes('json')
    ? new Response(
        asWhole(body, (text) => tidyText(text, tidy)),
        init,
      )
    : answer;
}

/** Text that is no JSON is for the SDK to refuse. */
function tidyText(text: string, tidy: Tidy): string {
  const message = parseJson(text);
  return message === undefined ? text : JSON.stringify(tidy(message));
}

function tidyLine(line: string, tidy: Tidy): string {
  const [, data = ''] = /^data: ?(.*)$/s.exec(line) ?? [];
  return data === '' ? line : `data: ${tidyText(data, tidy)}`;
}

function withoutLength(headers: Headers): Headers {
  const others = new Headers(headers);
  others.delete('content-length');
  return others;
}

const asWhole = (body: ReadableStream<Uint8Array>, change: (text: string) => string): ReadableStream<Uint8Array> =>
  inText(body, () => {
    let text = '';
    return {
      transform: (chunk) => void (text += chunk),
      flush: (controller) => controller.enqueue(change(text)),
    };
  });

const byLine = (body: ReadableStream<Uint8Array>, change: (line: string) => string): ReadableStream<Uint8Array> =>
  inText(body, () => {
    let rest = '';
    return {
      transform(chunk, controller) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) controller.enqueue(`${change(line.endsWith('\r') ? line.slice(0, -1) : line)}\n`);
      },
      flush: (controller) => controller.enqueue(change(rest)),
    };
  });

const inText = (body: ReadableStream<Uint8Array>, change: () => Transformer<string, string>): ReadableStream<Uint8Array> =>
  body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new TransformStream(change()))
    .pipeThrough(new TextEncoderStream());
