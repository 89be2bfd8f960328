/** Remembers of a model at an address which parameters of a request it refuses, and how its answers have to be read. */
import { isObject, parseJson, type JsonObject } from '../../platform/json.ts';
import { LruMap } from '../../platform/lru.ts';

/** An answer is as useful without them, or with the other name of the limit. */
const OPTIONAL = ['temperature', 'stream_options', 'parallel_tool_calls', 'tool_choice', 'max_tokens', 'max_completion_tokens'] as const;
export type OptionalParameter = (typeof OPTIONAL)[number];

interface ModelAddress {
  readonly baseURL: string;
  readonly model: string;
}

interface Quirks {
  readonly refused: ReadonlySet<OptionalParameter>;
  readonly beginsWithReasoning: boolean;
}

/** Templates of these models put the beginning of the reasoning into the prompt. The first answer shows whether the server separates it. */
const REASONING_MODELS = /deepseek-?r1|qwq|thinking/i;

export class ModelQuirks {
  readonly #known = new LruMap<string, Quirks>(1_000);

  of({ baseURL, model }: ModelAddress): Quirks {
    return this.#known.get(`${baseURL} ${model}`) ?? { refused: new Set(), beginsWithReasoning: REASONING_MODELS.test(model) };
  }

  add(address: ModelAddress, quirks: Partial<Quirks>): void {
    this.#known.set(`${address.baseURL} ${address.model}`, { ...this.of(address), ...quirks });
  }
}

/** @returns the request without these parameters; the limit of tokens has two names, of which a server knows one */
export function withoutParameters(request: JsonObject, refused: ReadonlySet<OptionalParameter>): JsonObject {
  const rest = Object.fromEntries(Object.entries(request).filter(([name]) => !refused.has(name as OptionalParameter)));
  const limit = request['max_tokens'] ?? request['max_completion_tokens'];
  const other = (['max_completion_tokens', 'max_tokens'] as const).find((name) => !refused.has(name));
  const hasLimit = 'max_tokens' in rest || 'max_completion_tokens' in rest;
  return limit === undefined || hasLimit || other === undefined ? rest : { ...rest, [other]: limit };
}

/** @param said the body of an error response. @returns the parameters that it names */
export function parametersNamedIn(said: string): readonly OptionalParameter[] {
  const body = parseJson(said);
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  // vLLM puts `body.` before the name, and LiteLLM sends Python's None for no name.
  const param = typeof error['param'] === 'string' ? error['param'].replace(/^(body\.|None$)/, '') : '';
  const text = param === '' ? said : param;
  return OPTIONAL.filter((name) => new RegExp(String.raw`(?<![\w.\]])${name}(?![\w[]|\.\w)`).test(text));
}
