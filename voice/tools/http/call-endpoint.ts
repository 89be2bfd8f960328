/** One request to the endpoint of a custom tool, and what the model is told of it. */
import type { ToolMethod } from '../../../crds/http-method.ts';
import type { Egress, EgressRequest } from '../../../platform/egress/egress.ts';
import { EgressError } from '../../../platform/egress/egress-error.ts';
import { failure, type JsonValue, type ToolResult } from '../tool-result.ts';
import { type Answer, MAX_ANSWER_BYTES, readAnswer } from './answer.ts';
import type { Redaction } from './redaction.ts';

export interface EndpointCall {
  readonly request: Pick<EgressRequest, 'url' | 'headers'> & {
    readonly method: ToolMethod;
    readonly body?: string;
  };
  /** Of the whole request, in milliseconds. */
  readonly timeoutMs: number;
  readonly redaction: Redaction;
  readonly signal: AbortSignal;
}

/** Rejects only with the signal's own reason. */
export async function callEndpoint(egress: Egress, { request, timeoutMs, redaction, signal }: EndpointCall): Promise<ToolResult> {
  let response;
  try {
    response = await egress.request({
      ...request,
      timeoutMs,
      maxBodyBytes: MAX_ANSWER_BYTES,
      overflow: 'truncate',
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) return failure(redaction.text(error.message), {}, error.kind);
    throw error;
  }
  const { status } = response;
  const host = URL.parse(response.url)?.host ?? '';
  const answer = await readAnswer(response, redaction);
  if (status >= 300 && status < 400) {
    return failure(`${host} answered ${status}: redirects are not followed`, { status }, `http_${status}`);
  }
  if (status < 200 || status >= 300) {
    return failure(`${host} answered with the error ${status}`, { status, ...shown(answer) }, `http_${status}`);
  }
  if (answer.kind === 'unreadable') {
    return failure(`${host} took the request (status ${status}), but its answer is not shown: ${answer.why}`, { status }, 'unreadable');
  }
  if (answer.kind === 'text' && answer.broken) {
    const what = `${host} took the request (status ${status}), but its answer is not the JSON that it says it is`;
    return failure(what, { status, ...shown(answer) }, 'invalid_json');
  }
  return { succeeded: true, forModel: successful(answer, status), detail: `http_${status}` };
}

const cutNote = 'The answer was longer: only its beginning is shown, the rest was cut off.';

function successful(answer: Answer, status: number): JsonValue {
  if (answer.kind === 'json') return answer.value;
  if (answer.kind === 'text') return answer.cut ? { note: cutNote, ...shown(answer) } : answer.text;
  return { status, note: 'Done; the answer has no content.' };
}

function shown(answer: Answer): { readonly [key: string]: JsonValue } {
  if (answer.kind === 'json') return { answer: answer.value };
  if (answer.kind === 'text') return { answer: answer.text, ...(answer.cut && { note: cutNote }) };
  return {};
}
