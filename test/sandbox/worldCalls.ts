/** Questions to a world under test that several tests ask. */
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { createPublicClient, erc20Abi, http } from "viem"
import type { TestWorld } from "#test/sandbox/startWorld.ts"

/** USDC and WETH on Base, and an account that tests give tokens to. */
export const usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
export const weth = "eip155:8453/erc20:0x4200000000000000000000000000000000000006"
export const account = "0x52908400098527886E0F7030069857D2E4169EE7"

/** What `GET /` answers. */
export interface Overview {
  readonly apiBaseUrl: string
  readonly streamBaseUrl: string
  readonly adminToken: string
  readonly now: number
  readonly tenants: ReadonlyArray<{
    name: string
    apiKey: string
    readOnlyApiKey: string
    entitlements: ReadonlyArray<string>
  }>
  readonly chains: ReadonlyArray<{
    chainId: number
    namespace: string
    rpcUrl: string
    /** Address of the program that runs Swig wallets, on Solana. */
    swig?: string
    assets: ReadonlyArray<{ assetId: string; symbol: string; decimals: number; priceUsd: string }>
  }>
}

/** An error answer of the control API. */
export interface Refusal {
  readonly error: { readonly message: string; readonly details: ReadonlyArray<string> }
}

export const overview = async (world: TestWorld) => (await world.get<Overview>("/")).body

/** The processes that the world has written down. */
export const recorded = (world: TestWorld): ReadonlyArray<{ readonly role: string; readonly pid: number }> =>
  JSON.parse(readFileSync(join(world.instance.dataDir, "processes.json"), "utf8"))

/** True while a process runs; a zombie does not. */
export const isAlive = (pid: number) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return !stat.slice(stat.lastIndexOf(")")).startsWith(") Z")
  } catch {
    return false
  }
}

/** Asks the service itself. */
export const service = async <Data>(world: TestWorld, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`http://127.0.0.1:${world.instance.api}${path}`, { headers })
  return ((await response.json()) as { readonly data: Data }).data
}

/** The environment of the API's process. */
export const environment = (world: TestWorld) =>
  service<Record<string, string> & { readonly pid: number }>(world, "/environment")

/** Raw units that the test account holds on Base, read from the chain. */
export const balance = async (world: TestWorld, assetId: string) => {
  const client = createPublicClient({ transport: http((await overview(world)).chains[0]!.rpcUrl) })
  const address = assetId.slice(assetId.lastIndexOf(":") + 1) as `0x${string}`
  return client.readContract({ address, abi: erc20Abi, functionName: "balanceOf", args: [account] })
}

/** Ends a world at once, with all it started, and removes its folder. */
export const destroy = async (world: TestWorld) => {
  world.supervisor.kill("SIGKILL")
  for (const entry of recorded(world)) {
    if (entry.role !== "supervisor" && isAlive(entry.pid)) process.kill(entry.pid, "SIGKILL")
  }
  await world.ended
  rmSync(world.instance.dataDir, { recursive: true, force: true })
}
