import { mkdtempSync, readFileSync, statSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { newInstance, startWorld, type TestWorld } from "#test/sandbox/startWorld.ts"
import {
  account,
  balance,
  destroy,
  environment,
  isAlive,
  overview,
  type Refusal,
  service,
  usdc,
  weth
} from "#test/sandbox/worldCalls.ts"

interface RpcAnswer<Result> {
  readonly result: Result
  readonly error: { readonly code: number }
}

let world: TestWorld

beforeAll(async () => {
  world = await startWorld(await newInstance(mkdtempSync(join(tmpdir(), "ballast-world-"))), [], {
    REBALANCE_COOLDOWN_SECONDS: "7"
  })
  assert.include(world.output(), "is ready")
})

afterAll(() => destroy(world))

const rpc = <Result = string>(method: string, params: ReadonlyArray<unknown> = []) =>
  world.post<RpcAnswer<Result>>("/rpc/8453", { jsonrpc: "2.0", id: 1, method, params })

describe("GET /", () => {
  it("says where everything is", async () => {
    const body = await overview(world)
    assert.strictEqual(body.apiBaseUrl, `http://127.0.0.1:${world.instance.api}`)
    assert.strictEqual(body.streamBaseUrl, `http://127.0.0.1:${world.instance.stream}`)
    assert.deepStrictEqual(
      body.tenants.map(({ name, entitlements }) => ({ name, entitlements })),
      [
        { name: "Northwind", entitlements: [] },
        { name: "Contoso", entitlements: ["svm_b2b_api"] }
      ]
    )
    assert.deepStrictEqual(
      body.chains.map(({ chainId, namespace }) => [chainId, namespace]),
      [
        [8453, "eip155"],
        [42161, "eip155"],
        [1399811149, "solana"]
      ]
    )
    assert.deepStrictEqual(body.chains[0]!.assets[0], { assetId: usdc, symbol: "USDC", decimals: 6, priceUsd: "1" })
  })

  it("gives the service its world, and what the user set above it", async () => {
    const body = await overview(world)
    const data = await environment(world)
    const node = `http://127.0.0.1:${world.instance.control}/rpc/42161`
    assert.strictEqual(data["RPC_URL_42161"], `${node},${node}/2`)
    assert.strictEqual(data["ADMIN_TOKEN"], body.adminToken)
    assert.strictEqual(data["REBALANCE_COOLDOWN_SECONDS"], "7")
    assert.strictEqual(data["DATA_DIR"], join(world.instance.dataDir, "service"))
  })

  it("keeps its secrets from other users of the machine", () => {
    assert.strictEqual(statSync(join(world.instance.dataDir, "world.json")).mode & 0o777, 0o600)
  })
})

describe("faucet", () => {
  it("mints to a chain-bound account", async () => {
    const { status, body } = await world.post<{ txHash: string }>("/faucet", {
      accountId: `eip155:8453:${account}`,
      assetId: usdc,
      amountRaw: "1500000"
    })
    assert.strictEqual(status, 200)
    assert.match(body.txHash, /^0x[0-9a-f]{64}$/)
    assert.strictEqual(await balance(world, usdc), 1_500_000n)
  })

  it.each([
    [{ accountId: `eip155:0:${account}`, assetId: usdc, amountRaw: "1" }, "accountId"],
    [{ accountId: `eip155:42161:${account}`, assetId: usdc, amountRaw: "1" }, "accountId"],
    [
      {
        accountId: `eip155:8453:${account}`,
        assetId: "eip155:1/erc20:0x4200000000000000000000000000000000000006",
        amountRaw: "1"
      },
      "assetId"
    ],
    [{ accountId: `eip155:8453:${account}`, assetId: usdc, amountRaw: "0" }, "amountRaw"],
    [{ accountId: `eip155:8453:${account}`, assetId: usdc, amountRaw: "1.5" }, "amountRaw"],
    [{ accountId: `eip155:8453:${account}`, assetId: usdc, amountRaw: "1", extra: 1 }, "extra"]
  ])("refuses %j, naming the field", async (body, field) => {
    const answer = await world.post<Refusal>("/faucet", body)
    assert.strictEqual(answer.status, 400)
    assert.isTrue(answer.body.error.details.some((detail) => detail.startsWith(`${field}:`)))
  })
})

describe("requests from elsewhere", () => {
  /** Requests with headers that `fetch` does not let a program choose. */
  const status = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const options = { host: "127.0.0.1", port: world.instance.control, method, path, headers }
      const sent = request(options, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      sent.on("error", reject)
      sent.end(method === "POST" ? JSON.stringify({ assetId: weth, priceUsd: "1" }) : undefined)
    })

  it.each([
    ["POST", "/prices", { host: "rebound.example" }],
    ["GET", "/", { host: "rebound.example:3100" }],
    ["POST", "/prices", { host: "127.0.0.1.rebound.example" }],
    ["POST", "/prices", { origin: "https://other.example" }],
    ["POST", "/prices", { origin: "null" }],
    ["POST", "/clock/advance", { origin: "https://localhost.other.example" }],
    ["POST", "/prices", { origin: "https://other.example", "content-type": "text/plain" }]
  ])("are refused: %s %s with %j", async (method, path, headers) => {
    assert.strictEqual(await status(method, path, headers as Record<string, string>), 403)
    const { chains } = await overview(world)
    assert.strictEqual(chains[0]!.assets.find(({ assetId }) => assetId === weth)!.priceUsd, "2500")
  })

  it.each([{ host: "localhost:3100" }, { host: "[::1]:3100" }, { origin: "http://localhost:5173" }])(
    "are answered when they are from this machine, as %j",
    async (headers) => {
      assert.strictEqual(await status("GET", "/", headers as unknown as Record<string, string>), 200)
    }
  )
})

describe("prices", () => {
  /** The key that the world's own service sends. */
  const ownKey = (): string =>
    JSON.parse(readFileSync(join(world.instance.dataDir, "world.json"), "utf8")).secrets.coingeckoApiKey
  const feed = (query = "", headers: Record<string, string> = { "x-cg-demo-api-key": ownKey() }) =>
    world.get<Record<string, { usd: number; usd_24h_change: number; last_updated_at: number }>>(
      `/coingecko/api/v3/simple/token_price/base?contract_addresses=0x4200000000000000000000000000000000000006,0xdead&vs_currencies=usd${query}`,
      headers
    )

  it("moves the feed, on one chain only", async () => {
    assert.strictEqual((await world.post("/prices", { assetId: weth, priceUsd: "3000.25" })).status, 200)
    const now = Math.floor((await world.get<{ readonly now: number }>("/clock")).body.now / 1000)
    const { body } = await feed("&include_last_updated_at=true&include_24hr_change=true")
    assert.deepStrictEqual(Object.keys(body), ["0x4200000000000000000000000000000000000006"])
    const quote = body["0x4200000000000000000000000000000000000006"]!
    assert.strictEqual(quote.usd, 3000.25)
    assert.closeTo(quote.usd_24h_change, 20.01, 0.001)
    assert.closeTo(quote.last_updated_at, now, 2)
    const { chains } = await overview(world)
    assert.strictEqual(chains[1]!.assets[1]!.priceUsd, "2500")
  })

  it("knows coins by id, platforms, and its own health", async () => {
    const coins = await world.get(
      "/coingecko/api/v3/simple/price?ids=arbitrum,unknown&vs_currencies=usd&include_market_cap=true"
    )
    assert.deepStrictEqual(coins.body, { arbitrum: { usd: 0.8, usd_market_cap: 3_200_000_000 } })
    const platforms = await world.get<ReadonlyArray<{ id: string; chain_identifier: number }>>(
      "/coingecko/api/v3/asset_platforms"
    )
    assert.deepStrictEqual(
      platforms.body.map((platform) => [platform.id, platform.chain_identifier]),
      [
        ["base", 8453],
        ["arbitrum-one", 42161],
        ["ethereum", 1],
        ["binance-smart-chain", 56],
        ["robinhood", 4663],
        ["solana", null]
      ]
    )
    assert.strictEqual((await world.get("/coingecko/api/v3/ping")).status, 200)
  })

  it("refuses a wrong key and a request without contracts", async () => {
    assert.strictEqual((await feed("", { "x-cg-demo-api-key": "wrong" })).status, 401)
    assert.strictEqual((await world.get("/coingecko/api/v3/simple/token_price/base?vs_currencies=usd")).status, 422)
    assert.strictEqual(
      (await world.get("/coingecko/api/v3/simple/token_price/nowhere?contract_addresses=0x1&vs_currencies=usd")).status,
      404
    )
  })

  it("fails as it is set to, under both of its names", async () => {
    await world.post("/faults", { target: "prices", mode: "rate-limited", count: 1 })
    const limited = await feed()
    assert.strictEqual(limited.status, 429)
    assert.strictEqual(limited.headers.get("retry-after"), "1")
    await world.post("/faults", { target: "coingecko", mode: "error", count: 1 })
    assert.strictEqual((await feed()).status, 500)
    assert.strictEqual((await feed()).status, 200)
  })

  it.each(["0", "-1", "abc", "1e30", ""])("refuses the price %j", async (priceUsd) => {
    const { status, body } = await world.post<Refusal>("/prices", { assetId: weth, priceUsd })
    assert.strictEqual(status, 400)
    assert.match(body.error.details[0]!, /^priceUsd:/)
  })
})

describe("token list", () => {
  it("has the tokens of all chains in the format of tokenlists.org", async () => {
    const { body } = await world.get<{
      tokens: ReadonlyArray<{
        chainId: number
        address: string
        symbol: string
        decimals: number
        tags: ReadonlyArray<string>
      }>
      tags: object
      version: object
    }>("/tokenlist.json")
    assert.strictEqual(body.tokens.length, 17, "twelve of the EVM chains and five of Solana")
    assert.deepInclude(body.tokens[0]!, {
      chainId: 8453,
      address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      symbol: "USDC",
      decimals: 6
    })
    for (const token of body.tokens) for (const tag of token.tags) assert.property(body.tags, tag)
    assert.deepStrictEqual(Object.keys(body.version), ["major", "minor", "patch"])
  })
})

describe("RPC", () => {
  const fault = (mode: string, count?: number) =>
    world.post("/faults", { target: "rpc:8453", mode, ...(count === undefined ? {} : { count }) })

  it("passes calls and batches on", async () => {
    assert.strictEqual((await rpc("eth_chainId")).body.result, "0x2105")
    const batch = await world.post<ReadonlyArray<unknown>>(
      "/rpc/8453",
      [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "eth_blockNumber", params: [] }))
    )
    assert.strictEqual(batch.body.length, 2)
  })

  it.each([
    "anvil_setBalance",
    "evm_mine",
    "hardhat_setCode",
    "eth_sendTransaction",
    "eth_accounts",
    "eth_sendUnsignedTransaction"
  ])("keeps %s back, as a provider has no such thing", async (method) => {
    assert.strictEqual((await rpc(method)).body.error.code, -32601)
  })

  it("goes down and comes back", async () => {
    await fault("down")
    await expect(rpc("eth_chainId")).rejects.toThrow()
    await expect(rpc("eth_chainId")).rejects.toThrow()
    await fault("ok")
    assert.strictEqual((await rpc("eth_chainId")).status, 200)
  })

  it("answers errors and limits for a count of requests", async () => {
    await fault("error", 1)
    const failed = await rpc("eth_chainId")
    assert.deepStrictEqual([failed.status, failed.body.error.code], [500, -32603])
    await fault("rate-limited", 2)
    assert.deepStrictEqual(
      [(await rpc("eth_chainId")).status, (await rpc("eth_chainId")).headers.get("retry-after")],
      [429, "1"]
    )
    assert.strictEqual((await rpc("eth_chainId")).status, 200)
  })

  it("misbehaves as nodes do, at one endpoint or at all", async () => {
    const at = async (path: string) =>
      BigInt(
        (await world.post<RpcAnswer<string>>(path, { jsonrpc: "2.0", id: 1, method: "eth_blockNumber" })).body.result
      )
    await world.post("/faults", { target: "rpc:8453/2", mode: "lagging", blocks: 1000, of: ["blocks"] })
    const [first, second] = [await at("/rpc/8453"), await at("/rpc/8453/2")]
    assert.isTrue(second === 0n ? first < 1000n : first >= second + 1000n)
    await world.post("/faults", { target: "rpc:8453/2", mode: "ok" })
    assert.isTrue((await at("/rpc/8453/2")) >= first)
  })

  it("is slow by three seconds", async () => {
    await fault("slow", 1)
    const started = performance.now()
    assert.strictEqual((await rpc("eth_chainId")).body.result, "0x2105")
    assert.isAbove(performance.now() - started, 2_900)
  })

  it("does the work and drops the answer", async () => {
    const filter = (await rpc("eth_newBlockFilter")).body.result
    await fault("drop-next")
    await expect(rpc("eth_uninstallFilter", [filter])).rejects.toThrow()
    assert.strictEqual((await rpc<boolean>("eth_uninstallFilter", [filter])).body.result, false)
  })
})

describe("faults and tenants", () => {
  it("kills the API and answers when its successor is ready", async () => {
    const pid = async () => (await environment(world)).pid
    const before = await pid()
    assert.strictEqual((await world.post("/faults", { target: "api", mode: "kill" })).status, 200)
    assert.notStrictEqual(await pid(), before)
    assert.isFalse(isAlive(before))
  })

  it("starts the API again when it dies by itself", async () => {
    process.kill((await environment(world)).pid, "SIGKILL")
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${world.instance.api}/health/ready`).then(
            (response) => response.status,
            () => 0
          ),
        { timeout: 120_000 }
      )
      .toBe(200)
  })

  it.each([
    [{ target: "rpc:1", mode: "down" }, "target"],
    [{ target: "rpc:8453", mode: "sideways" }, "mode"],
    [{ target: "rpc:8453", mode: "kill" }, "mode"],
    [{ target: "api", mode: "down" }, "mode"],
    [{ target: "rpc:8453", mode: "down", count: 0 }, "count"],
    [{ target: "rpc:8453/3", mode: "lagging" }, "target"],
    [{ target: "prices", mode: "lagging" }, "mode"],
    [{ target: "rpc:8453", mode: "lagging", blocks: 0 }, "blocks"],
    [{ target: "rpc:8453", mode: "lagging", of: [] }, "of"],
    [{ target: "rpc:8453", mode: "stale", share: 2 }, "share"],
    [{ target: "rpc:8453", mode: "tip", tipWei: "1 gwei" }, "tipWei"]
  ])("refuses %j", async (body, field) => {
    const answer = await world.post<Refusal>("/faults", body)
    assert.strictEqual(answer.status, 400)
    assert.isTrue(answer.body.error.details[0]!.startsWith(`${field}:`))
  })

  it("creates a tenant with both keys", async () => {
    const { status, body } = await world.post<{ apiKey: string; readOnlyApiKey: string }>("/tenants", {
      name: "Fabrikam",
      entitlements: ["svm_b2b_api"]
    })
    assert.strictEqual(status, 201)
    const scopes = async (key: string) =>
      (await service<{ scopes: ReadonlyArray<string> }>(world, "/v2/whoami", { "x-api-key": key })).scopes
    assert.strictEqual((await scopes(body.apiKey)).length, 10)
    assert.deepStrictEqual(await scopes(body.readOnlyApiKey), ["strategies:read", "portfolios:read"])
  })
})
