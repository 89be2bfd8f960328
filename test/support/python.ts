/** Programs in Python that the tests use. */
export { findPythonWithVenv as findPython, pythonWith, type PythonPackage } from '../../local-stack/binaries/python-environment.ts';

/** Said by suites that are skipped. */
export const withoutPython = 'needs Python 3.10 or newer with the modules venv and ensurepip on PATH';
