/** Gives the facade's kinds their watch caches and their states. */
import type { ResourceDependencies } from '../dependencies.ts';
import { createResourceContext, type ResourceContext } from '../resources/context.ts';
import { States } from './states.ts';
import { createViews, type Views } from './views.ts';

export interface KindContext extends ResourceContext {
  readonly views: Views;
  readonly states: States;
  /** Starts the watch caches, and the checks whether the API server answers. */
  start(): void;
  stop(): Promise<void>;
}

export function createContext(dependencies: ResourceDependencies): KindContext {
  const context = createResourceContext(dependencies);
  const { availability } = context;
  const views = createViews(dependencies, context);
  return {
    ...context,
    views,
    states: new States(views),
    start() {
      availability.start();
      for (const each of Object.values(views)) each.start();
    },
    async stop() {
      await Promise.all(Object.values(views).map((each) => each.stop()));
      await availability.stop();
    },
  };
}
