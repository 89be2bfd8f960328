/**
 * Keeps keys that the user pressed for a sensitive tool, in the memory of the call: the model gets a reference, and only the tool gets the
 * keys.
 */
import type { Arguments, JsonValue, ToolDefinition, ToolResult } from './tool-result.ts';

export class SensitiveKeys {
  readonly #keys = new Map<string, string>();

  /** @returns the reference of the keys, as the model writes it into arguments */
  keep(keys: string): string {
    const reference = `<keys-${this.#keys.size + 1}>`;
    this.#keys.set(reference, keys);
    return reference;
  }

  /** Gives a tool the keys, and the model references again where the tool repeats them. */
  protect(definition: ToolDefinition): ToolDefinition {
    return {
      ...definition,
      refuse: (args) => {
        const refused = definition.refuse(this.#reveal(args));
        return refused === undefined ? undefined : (this.#hide(refused) as string);
      },
      run: async (args, signal) => this.#hideIn(await definition.run(this.#reveal(args), signal)),
    };
  }

  #hideIn({ forModel, ...result }: ToolResult): ToolResult {
    return forModel === undefined ? result : { ...result, forModel: this.#hide(forModel) };
  }

  #reveal(args: Arguments): Arguments {
    return this.#replaced(args, [...this.#keys]) as Arguments;
  }

  #hide(value: JsonValue): JsonValue {
    // One or two keys are in every answer, and are no secret.
    const secrets = [...this.#keys].filter(([, keys]) => keys.length > 2).map(([reference, keys]) => [keys, reference] as const);
    return this.#replaced(value, secrets) as JsonValue;
  }

  #replaced(value: unknown, pairs: readonly (readonly [string, string])[]): unknown {
    if (typeof value === 'string') return pairs.reduce((text, [from, to]) => text.replaceAll(from, to), value);
    if (typeof value === 'number') {
      const text = this.#replaced(String(value), pairs);
      return text === String(value) ? value : text;
    }
    if (Array.isArray(value)) return value.map((item) => this.#replaced(item, pairs));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#replaced(item, pairs)]));
  }
}
