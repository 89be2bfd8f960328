/** Makes a tool whose result comes when the test says so. */
import type { ToolDefinition, ToolResult } from '../../voice/tools/tool-result.ts';

export interface ScriptedTool {
  readonly definition: ToolDefinition;
  /** Arguments of each run. */
  readonly runs: readonly unknown[];
  gives(forModel: string): void;
  fails(forModel: string): void;
}

export function aTool(name: string, more: Partial<ToolDefinition> = {}): ScriptedTool {
  const { promise, resolve } = Promise.withResolvers<ToolResult>();
  const runs: unknown[] = [];
  const definition: ToolDefinition = {
    name,
    description: '',
    parameters: { type: 'object' },
    messages: {},
    refuse: () => undefined,
    run: (args) => {
      runs.push(args);
      return promise;
    },
    ...more,
  };
  return {
    definition,
    runs,
    gives: (forModel) => resolve({ succeeded: true, forModel }),
    fails: (forModel) => resolve({ succeeded: false, forModel }),
  };
}
