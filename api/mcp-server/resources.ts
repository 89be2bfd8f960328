/** Offers objects as MCP resources: `parley://agents/receptionist` reads as the answer of `get_agent`. Pure. */
import { buildToolRequest, wrongIds, type RouteTool, type ToolRequest } from './tools.ts';

interface ResourceTemplate {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly uriTemplate: string;
  readonly mimeType: string;
}

/** @returns the template of the tool's objects; none for a tool that answers no resource */
export function templateOf({ annotation, definition, route }: RouteTool): readonly ResourceTemplate[] {
  const { resource } = annotation;
  if (resource === undefined) return [];
  return [
    {
      name: resource,
      title: definition.title ?? resource,
      description: definition.description ?? '',
      uriTemplate: `parley://${resource}/{${idParam(route)}}`,
      mimeType: 'application/json',
    },
  ];
}

/** @returns the request that reads a resource; undefined where no tool answers it */
export function addressOf(uri: string, tools: Iterable<RouteTool>): ToolRequest | undefined {
  const [, resource, id = ''] = /^parley:\/\/([a-z-]+)\/([^/?#]+)$/.exec(uri) ?? [];
  const tool = [...tools].find(({ annotation }) => resource !== undefined && annotation.resource === resource);
  if (tool === undefined) return undefined;
  const given = { [idParam(tool.route)]: decoded(id) };
  return wrongIds(tool.route, given).length > 0 ? undefined : buildToolRequest(tool, given);
}

function idParam({ params = {} }: RouteTool['route']): string {
  return Object.keys(params)[0] ?? '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
