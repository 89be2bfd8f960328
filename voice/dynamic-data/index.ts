/** What an agent looks up before a call begins. */
export { resolveDynamicData } from './resolve.ts';
