/**
 * The chain program: starts anvil on loopback and waits for its first answer.
 */
import { Effect, type Scope } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { arch, platform } from "node:process"
import { setTimeout as wait } from "node:timers/promises"
import { createTestClient, defineChain, http, publicActions, walletActions } from "viem"
import { canonical } from "#sandbox/chain/canonical.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { type OwnedProcess, startProcess } from "#sandbox/process/ownedProcess.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** Foundry's package for this machine, as it is called there; `npm install` brings that of its own platform. */
const packageName = `@foundry-rs/anvil-${platform}-${arch === "x64" ? "amd64" : arch}`
const packaged = join(import.meta.dirname, "../..", "node_modules", packageName, "bin/anvil")
/** Gas of a block, in the order of what Base and Arbitrum take; anvil's own 30 million is far below. */
export const blockGasLimit = 120_000_000n
/** States that can be read besides the latest: as deep as confirmations may be configured. Each costs memory. */
export const keptStates = 64
/** Blocks whose transactions and receipts are kept: as far as the service searches for what it sent. */
const keptBlocks = 40_000
const startLimitMillis = 60_000
const probeMillis = 10
const attempts = 3

/** Test, public and wallet actions of viem in one client, without retries and with fast receipts. */
export const makeClient = (chainId: number, rpcUrl: string) =>
  createTestClient({
    mode: "anvil",
    chain: defineChain({
      id: chainId,
      name: `sandbox ${chainId}`,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
      contracts: { multicall3: { address: canonical.multicall3 } }
    }),
    transport: http(rpcUrl, { retryCount: 0, timeout: 60_000 }),
    pollingInterval: 20,
    cacheTime: 0
  })
    .extend(publicActions)
    .extend(walletActions)

export type ChainClient = ReturnType<typeof makeClient>

/** A chain without contracts. */
export interface Anvil {
  readonly rpcUrl: string
  readonly client: ChainClient
  readonly process: OwnedProcess
}

// The package's own launcher would leave anvil running when it is killed, so the binary is started directly.
const binary = existsSync(packaged) ? packaged : "anvil"

const untilReady = (chainId: number, client: ChainClient, anvil: OwnedProcess) =>
  Effect.tryPromise({
    try: async (signal) => {
      for (let waited = 0; waited < startLimitMillis && anvil.isRunning() && !signal.aborted; waited += probeMillis) {
        const answer = await client.getChainId().catch(() => undefined)
        if (answer === chainId && anvil.isRunning()) return
        await wait(probeMillis)
      }
      throw new Error(
        anvil.isRunning() ? `no answer within ${startLimitMillis} ms` : `it ended with ${await anvil.ended}`
      )
    },
    catch: (cause) => new SandboxFailure({ message: `anvil for chain ${chainId} did not come up`, cause })
  })

/** Starts anvil for a chain, on the given loopback port or a free one; it ends with the scope. */
export const startAnvil = (
  chainId: number,
  port: number | undefined
): Effect.Effect<Anvil, SandboxFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const chosen = port ?? (yield* freePort)
    const process = yield* startProcess({
      name: "anvil",
      file: binary,
      remedy: `Run npm install (on Linux x64 it brings anvil), or npm install --no-save ${packageName}@1.7.1, or install Foundry so that anvil is on PATH`,
      args: [
        "--chain-id",
        `${chainId}`,
        "--port",
        `${chosen}`,
        "--host",
        "127.0.0.1",
        "--silent",
        "--gas-limit",
        `${blockGasLimit}`,
        "--prune-history",
        `${keptStates}`,
        "--transaction-block-keeper",
        `${keptBlocks}`
      ],
      stdio: "ignore",
      graceMillis: 2_000
    })
    const rpcUrl = `http://127.0.0.1:${chosen}`
    const client = makeClient(chainId, rpcUrl)
    yield* untilReady(chainId, client, process)
    return { rpcUrl, client, process }
  }).pipe(port === undefined ? Effect.retry({ times: attempts - 1 }) : (self) => self)
