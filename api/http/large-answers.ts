/** Keeps long lists from holding up other requests: a hundred agents take a second to serialise, so it happens item by item, in slices. */
import { Readable } from 'node:stream';

import type { FastifyInstance } from 'fastify';

import { Pacer } from '../../platform/pacer.ts';
import { isObject } from '../../platform/json.ts';

/** Bytes of an answer that is sent whole; longer answers are sent as they are written. */
const WHOLE = 1024 * 1024;

/** Registers the hook; comes after every hook that changes answers. */
export function registerLargeAnswers(app: FastifyInstance): void {
  app.addHook('preSerialization', async (_request, reply, payload) => {
    if (!hasList(payload)) return payload;
    const parts = jsonParts(payload);
    const written: Buffer[] = [];
    let bytes = 0;
    let next = await parts.next();
    for (; next.done !== true && bytes <= WHOLE; next = await parts.next()) {
      written.push(next.value);
      bytes += next.value.length;
    }
    const body =
      next.done === true ? Buffer.concat(written) : Readable.from(following([...written, next.value], parts), { objectMode: false });
    // Fastify's types allow only text here; it sends buffers and streams as well.
    void reply.serializer(() => body as unknown as string);
    return payload;
  });
}

async function* following(written: readonly Buffer[], parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* written;
  yield* parts;
}

/** Writes an answer as `JSON.stringify` does, in UTF-8. Lists one level below are cut into their items. */
export async function* jsonParts(answer: Readonly<Record<string, unknown>>): AsyncGenerator<Buffer> {
  const pacer = new Pacer();
  let separator = '{';
  for (const [name, value] of Object.entries(answer)) {
    const whole = Array.isArray(value) ? '[' : JSON.stringify(value);
    // JSON leaves out functions and undefined.
    if (whole === undefined) continue;
    yield Buffer.from(`${separator}${JSON.stringify(name)}:${whole}`);
    separator = ',';
    if (!Array.isArray(value)) continue;
    for (const [index, item] of (value as unknown[]).entries()) {
      if (pacer.due) await pacer.pause();
      yield Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(item) ?? 'null'}`);
    }
    yield Buffer.from(']');
  }
  yield Buffer.from(separator === '{' ? '{}' : '}');
}

function hasList(payload: unknown): payload is Readonly<Record<string, unknown>> {
  return isObject(payload) && Object.values(payload).some(isList);
}

const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 1;
