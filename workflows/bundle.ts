/** Compiles the workflows into one script for Temporal's sandbox: in the build, or from sources when the worker starts. */
import { fileURLToPath } from 'node:url';

import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

import { locateAsset } from '../platform/assets.ts';

/** Name of the prebuilt bundle in `dist/`. */
export const WORKFLOW_BUNDLE = 'workflow-bundle.js';

/** Compiles the workflows (some seconds). The build writes the answer to `dist/` under {@link WORKFLOW_BUNDLE}. */
export async function bundleWorkflows(): Promise<{ readonly code: string }> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./catalogue.ts', import.meta.url)),
    workflowInterceptorModules: [fileURLToPath(new URL('./tracing/forward-trace.ts', import.meta.url))],
    logger: new DefaultLogger('WARN'),
    // Each worker keeps the map in memory: stack traces need its positions, and nothing needs the sources in it.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  });
}

/** Returns the bundle that the build made where there is one, else a new one. */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  const codePath = locateAsset(import.meta.url, WORKFLOW_BUNDLE);
  return codePath === undefined ? bundleWorkflows() : { codePath };
}
