import type { FieldNames } from '../partial/field-names.ts';

/** Paths of a Tool's spec in REST's words. */
export const toolFieldNames: FieldNames = {
  description: 'tool_description',
  'messages.start': 'tool_start_message',
  'messages.delayed': 'tool_delayed_message',
  'messages.complete': 'tool_complete_message',
  'messages.failed': 'tool_failed_message',
  'custom.function': 'function_tool',
  'custom.function.name': 'function_tool.name',
  'custom.function.description': 'function_tool.description',
  'custom.function.parameters': 'function_tool.parameters',
  'custom.http': 'additional_tool_info.api',
  'custom.http.url': 'additional_tool_info.api.endpoint',
  'custom.http.method': 'additional_tool_info.api.method',
  'custom.http.headers': 'additional_tool_info.api.headers',
  'custom.http.fixedParams': 'additional_tool_info.api.parameters.fixed_params',
  'custom.http.runtimeParams': 'additional_tool_info.api.parameters.runtime_params',
};
