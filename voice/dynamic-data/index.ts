/** What an agent looks up before a call begins. */
export { resolveDynamicData, type DynamicDataCache, type ResolvedDynamicData, type ResolveOptions } from './resolve.ts';
