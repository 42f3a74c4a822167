import type { Command } from 'commander';
import type { CommandRunner } from '../command-runner.ts';
import { registerServe } from './mcp-serve.ts';

/** Registers the commands for the Model Context Protocol. */
export function registerMcp(mcp: Command, runner: CommandRunner): void {
  registerServe(mcp, runner);
}
