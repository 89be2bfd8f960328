import { fillTemplate, type DynamicData } from '../../../crds/template.ts';
import type { ToolSpec } from '../../../crds/index.ts';
import type { ToolHost } from '../tool-host.ts';
import { failure, type BuiltinToolOptions, type ToolDefinition } from '../tool-result.ts';

export interface TransferToolOptions extends BuiltinToolOptions<NonNullable<ToolSpec['transferCall']>> {
  readonly data: DynamicData;
  readonly host: ToolHost;
}

/** Creates the tool. The owner chose the target: the model only decides when. */
export function createTransferCall({ name, spec, description, messages, data, host }: TransferToolOptions): ToolDefinition {
  return {
    name,
    description: description ?? 'Hands the call over to a person. Use it when the user asks for one, or needs what you cannot do.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    messages,
    actsOnCall: 'ends',
    refuse: () => undefined,
    async run() {
      const to = fillTemplate(spec.to, data).trim();
      const outcome = await host.transfer({ to, mode: spec.mode, callerID: spec.callerID });
      return outcome.outcome === 'done' ? { succeeded: true, detail: 'transferred' } : failure(outcome.message, {}, 'not_transferred');
    },
  };
}
