/** HTTP methods of requests that agents make. */
export const toolMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export const lookupMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH'] as const;

export type ToolMethod = (typeof toolMethods)[number];
export type LookupMethod = (typeof lookupMethods)[number];

/** Tells whether a request says everything in its address; the others have a JSON body. */
export function isBodyless(method: ToolMethod): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'DELETE';
}
