import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { AssetId, type ChainId, EvmAccountId, type EvmAddress, evmAccount, EvmWalletId } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import type { Grant } from "#domain/account/Grant.ts"
import { resolveSource, resolveWholeSource, type WithdrawalTerms } from "#domain/withdrawal/resolveSource.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { addressOf } from "#layers/evm/address.ts"
import { families } from "#layers/FamiliesLive.ts"

const address = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const router = Eip55.checksum(`0x${"42".repeat(20)}`) as EvmAddress
const routedSwap = Eip55.checksum(`0x${"43".repeat(20)}`) as EvmAddress
const listed = Eip55.checksum(`0x${"44".repeat(20)}`) as EvmAddress
const bridge = {
  contract: Eip55.checksum(`0x${"45".repeat(20)}`) as EvmAddress,
  token: Eip55.checksum(`0x${"46".repeat(20)}`) as EvmAddress,
  destinations: [{ chainId: 42161 as ChainId, token: Eip55.checksum(`0x${"47".repeat(20)}`) as EvmAddress }] as const
}
const current = Eip55.checksum(`0x${"5c".repeat(20)}`) as EvmAddress
const baseWethAddress = addressOf(baseWeth.assetId)
const bytes32 = `0x${"0a".repeat(32)}`

const grant = (chainIds: ReadonlyArray<number>, withdrawalDomainName: string | null = "Ballast"): Grant => {
  const [first, ...rest] = chainIds.map((id) => ({
    chainId: id as ChainId,
    accountId: evmAccount(id as ChainId, address),
    permissionId: PermissionId.make("0x00000001"),
    policy: { _tag: "Evm" as const, router, routedSwap, connectorTokens: [baseWethAddress], tokens: [listed], bridge },
    digest: bytes32
  }))
  return {
    ownerSignature: bytes32,
    authorization: {
      _tag: "Evm",
      accountType: "ECDSA",
      ownerAccountId: Schema.decodeUnknownSync(EvmWalletId)(`eip155:0:${address}`),
      accountIndex: 0n,
      withdrawalDomainName,
      agentAccountId: Schema.decodeUnknownSync(EvmWalletId)(`eip155:0:${address}`),
      chains: [first!, ...rest],
      root: bytes32
    }
  }
}

const grants = [grant([8453, 56]), grant([42161])]
const contextOf = (of: ReadonlyArray<Grant>, at: "" | "message." = "") => ({
  grants: of,
  contracts: (chainId: ChainId) => new Set(chainId === 8453 ? [current] : []),
  families,
  at
})
const account = (id: string) => Schema.decodeUnknownSync(EvmAccountId)(id)
const recipient = account("eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070D")
const asset = (assetId: AssetId, amountRaw = "1") => ({ assetId, amountRaw })

const good: WithdrawalTerms = { recipientAccountId: recipient, assets: [asset(baseUsdc.assetId)], liquidate: false }

const on56 = Schema.decodeUnknownSync(AssetId)(`eip155:56/erc20:${address}`)

const codeOf = (terms: WithdrawalTerms, of: ReadonlyArray<Grant> = grants) =>
  Result.match(resolveSource(terms, contextOf(of)), {
    onSuccess: () => "ok",
    onFailure: (error) =>
      (error.constructor as unknown as { readonly contract: { readonly code: string } }).contract.code
  })

const wallet = Schema.decodeUnknownSync(EvmWalletId)("eip155:0:0x8617E340B3D01FA5F11F306F4090FD50E238070D")
const own = evmAccount(8453 as ChainId, address)
const zero = account(`eip155:8453:0x${"0".repeat(40)}`)
const on1 = account("eip155:1:0x8617E340B3D01FA5F11F306F4090FD50E238070D")
const twice = [asset(baseUsdc.assetId), asset(baseUsdc.assetId, "2")]
const mixed = [asset(baseUsdc.assetId), asset(arbUsdc.assetId)]

const table: ReadonlyArray<readonly [what: string, changes: Partial<WithdrawalTerms>, code: string]> = [
  ["in order", {}, "ok"],
  ["in order, of two assets", { assets: [asset(baseUsdc.assetId), asset(baseWeth.assetId)] }, "ok"],
  ["in order, to be sold", { liquidate: true }, "ok"],
  [
    "to the owner's address",
    { recipientAccountId: account(`eip155:8453:${"0x27b1fdb04752bbc536007a920d24acb045561c26"}`) },
    "ok"
  ],
  ["to the account's address on another chain", { recipientAccountId: evmAccount(1 as ChainId, address) }, "API_213"],
  ["to a wallet on no chain", { recipientAccountId: wallet }, "API_211"],
  ["to nobody", { recipientAccountId: zero }, "API_211"],
  ["to the account itself", { recipientAccountId: own }, "API_211"],
  ["of an asset twice", { assets: twice }, "API_212"],
  ["of assets on two chains", { assets: mixed }, "API_213"],
  [
    "on a chain without an account",
    { recipientAccountId: on1, assets: [asset(Schema.decodeUnknownSync(AssetId)(`eip155:1/erc20:${address}`))] },
    "API_215"
  ],
  [
    "sold on a chain without a settlement asset",
    {
      recipientAccountId: account("eip155:56:0x8617E340B3D01FA5F11F306F4090FD50E238070D"),
      assets: [asset(on56)],
      liquidate: true
    },
    "API_219"
  ],
  [
    "as it is on that chain",
    { recipientAccountId: account("eip155:56:0x8617E340B3D01FA5F11F306F4090FD50E238070D"), assets: [asset(on56)] },
    "ok"
  ],
  ["to a bare address", { recipientAccountId: "0x8617E340B3D01FA5F11F306F4090FD50E238070D" }, "API_211"],
  ["to a wrong checksum", { recipientAccountId: "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070d" }, "API_211"],
  [
    "to a Solana account",
    { recipientAccountId: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:1".padEnd(70, "1") },
    "API_211"
  ],
  ["to no text at all", { recipientAccountId: "" }, "API_211"],
  // The order of the checks, where two are broken at once.
  ["of an asset twice, to nobody", { recipientAccountId: zero, assets: twice }, "API_211"],
  ["of an asset twice on two chains", { assets: [...twice, ...mixed] }, "API_212"],
  ["on two chains, one without an account", { recipientAccountId: on1 }, "API_213"],
  ["to the account itself, of assets elsewhere", { recipientAccountId: own, assets: mixed }, "API_213"]
]

describe("where a withdrawal takes place", () => {
  for (const [what, changes, code] of table) {
    it(`${what}: ${code}`, () => assert.strictEqual(codeOf({ ...good, ...changes }), code))
  }

  const lossy: ReadonlyArray<readonly [what: string, address: string]> = [
    ["the token itself", addressOf(baseUsdc.assetId)],
    ["another token that the portfolio trades in", listed],
    ["a token of routes", baseWethAddress],
    ["the token of the bridge", bridge.token],
    ["the venue", router],
    ["the contract of routed swaps", routedSwap],
    ["the bridge", bridge.contract],
    ["a contract of the service", current],
    ["a precompile", `0x${"1".padStart(40, "0")}`],
    ["a precompile of Arbitrum", `0x${"64".padStart(40, "0")}`],
    ["the burn address", `0x${"dead".padStart(40, "0")}`],
    ["the first predeploy", `0x42${"0".repeat(38)}`],
    ["the last predeploy", `0x42${"7ff".padStart(38, "0")}`],
    ["the placeholder of the coin", `0x${"ee".repeat(20)}`]
  ]
  for (const [what, to] of lossy) {
    it(`to ${what}, which can only lose: API_211`, () => {
      const recipientAccountId = `eip155:8453:${Eip55.checksum(to)}`
      assert.strictEqual(codeOf({ ...good, recipientAccountId }), "API_211")
      assert.isTrue(Result.isFailure(resolveWholeSource(recipientAccountId, contextOf(grants))))
    })
  }

  it("to the neighbours of what a chain reserves: ok", () => {
    for (const to of [0x1_0000n, 0x4200000000000000000000000000000000000800n, 0x41ffn << 144n]) {
      const recipientAccountId = `eip155:8453:${Eip55.checksum(`0x${to.toString(16).padStart(40, "0")}`)}`
      assert.strictEqual(codeOf({ ...good, recipientAccountId }), "ok")
    }
  })

  it("names fields of a signed message as they were sent", () => {
    for (const changes of [
      { recipientAccountId: zero },
      { assets: twice },
      { assets: mixed },
      { recipientAccountId: own }
    ]) {
      const { details } = Result.getOrThrow(
        Result.flip(resolveSource({ ...good, ...changes }, contextOf(grants, "message.")))
      )
      for (const line of details ?? []) assert.match(line, /^message\.(assets\.1\.assetId|recipientAccountId): /)
    }
  })

  it("is the account of the latest grant on the recipient's chain", () => {
    const later = grant([8453], "Renamed")
    const site = Result.getOrThrow(resolveSource(good, contextOf([...grants, later])))
    assert.strictEqual(site.grant, later)
    assert.strictEqual(site.domainName, "Renamed")
    assert.strictEqual(site.chain.accountId, own)
    assert.strictEqual(site.recipientAccountId, recipient)
  })

  it("is nowhere for an account that was made without the executor", () => {
    assert.strictEqual(codeOf(good, [grant([8453], null)]), "API_215")
  })

  it("of everything asks the same of the recipient", () => {
    const of = (id: WithdrawalTerms["recipientAccountId"]) =>
      Result.isSuccess(resolveWholeSource(id, contextOf(grants)))
    assert.isTrue(of(recipient))
    for (const id of [wallet, zero, own, on1]) assert.isFalse(of(id))
  })

  it("names every asset that is named twice or elsewhere, by its place", () => {
    const assetIds = [baseUsdc.assetId, baseWeth.assetId, arbUsdc.assetId]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...assetIds), { minLength: 1, maxLength: 6 }), (ids) => {
        const result = resolveSource({ ...good, assets: ids.map((id) => asset(id)) }, contextOf(grants))
        const repeated = ids.flatMap((id, index) => (ids.indexOf(id) < index ? [index] : []))
        const stray = ids.flatMap((id, index) => (id === arbUsdc.assetId ? [index] : []))
        const named = Result.match(result, {
          onSuccess: () => [],
          onFailure: ({ details = [] }) => details.map((line) => Number(/^assets\.(\d+)\./.exec(line)?.[1]))
        })
        assert.deepStrictEqual(named, repeated.length > 0 ? repeated : stray)
      })
    )
  })
})
