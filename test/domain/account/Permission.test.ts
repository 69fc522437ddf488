/** What rules read of a permission, and that permissions stored before families had names are EVM's. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { chainIdOf, spl } from "#domain/values/Caip.ts"
import { Authorization, ChainAuthorization, familyOf } from "#domain/account/Authorization.ts"
import {
  permittedBridgeAsset,
  isGuarded,
  mayBuy,
  namedContracts,
  namedTokens,
  termsOf,
  walletRoleOf,
  bridgeTo
} from "#domain/account/Permission.ts"
import { arbUsdc, arbWeth, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const [router, routedSwap, bridge, guard] = ["11", "22", "33", "44"].map((fill) => `0x${fill.repeat(20)}`)
const bytes32 = `0x${"0a".repeat(32)}`
const owner = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
const tokenOf = (assetId: string) => assetId.slice(assetId.lastIndexOf(":") + 1)

/** Writes an authorization as it is stored. */
const authorizationOf = (policy: object) => ({
  _tag: "Evm",
  accountType: "ECDSA",
  ownerAccountId: `eip155:0:${owner}`,
  accountIndex: "0",
  withdrawalDomainName: null,
  agentAccountId: `eip155:0:${owner}`,
  chains: [{ chainId: 8453, accountId: `eip155:8453:${owner}`, permissionId: "0x00000001", policy, digest: bytes32 }],
  root: bytes32
})

const listed = {
  _tag: "Evm",
  router,
  routedSwap,
  connectorTokens: [tokenOf(baseWeth.assetId)],
  tokens: [tokenOf(baseUsdc.assetId)],
  bridge: {
    contract: bridge,
    token: tokenOf(baseUsdc.assetId),
    destinations: [{ chainId: 42161, token: tokenOf(arbUsdc.assetId) }]
  }
}
const limits = { contract: guard, issuedAt: 1, validUntil: 2, tradeBps: 10, budgetBps: 20 }

const decode = Schema.decodeUnknownSync(Authorization)
const chainWith = (policy: object) => decode(authorizationOf(policy)).chains[0]

describe("what was authorized", () => {
  it("a row says its family", () => {
    const authorization = decode(authorizationOf(listed))
    assert.deepStrictEqual<unknown>(Schema.encodeSync(Authorization)(authorization), authorizationOf(listed))
    assert.strictEqual(familyOf(authorization), "eip155")
    assert.strictEqual(familyOf({ _tag: "Solana" }), "solana")
    const { _tag: _, ...untold } = authorizationOf(listed)
    assert.throws(() => decode(untold))
  })

  it("a policy is tagged with its family, which is stored", () => {
    const { policy } = chainWith(listed)
    assert.strictEqual(policy._tag, "Evm")
    assert.isUndefined(walletRoleOf(chainWith(listed)))
    const encoded = Schema.encodeSync(ChainAuthorization)(chainWith(listed))
    assert.deepStrictEqual<unknown>(encoded, authorizationOf(listed).chains[0])
    assert.deepStrictEqual(Schema.decodeUnknownSync(ChainAuthorization)(encoded), chainWith(listed))
  })

  it("a role on Solana is tagged with its family, which is stored", () => {
    const role = { _tag: "Solana", walletId: bytes32, roleId: 1 }
    assert.deepStrictEqual<unknown>(chainWith(role).policy, role)
    assert.strictEqual(walletRoleOf(chainWith(role)), 1)
    const encoded = Schema.encodeSync(ChainAuthorization)(chainWith(role))
    assert.deepStrictEqual<unknown>(encoded, authorizationOf(role).chains[0])
  })

  it("a row of a family that is not known is refused", () =>
    assert.throws(() => decode({ ...authorizationOf(listed), _tag: "Other" })))

  it("what may be bought is what the permission lists, or under a guard all but what a closed list leaves out", () => {
    const chain = chainWith(listed)
    assert.isTrue(mayBuy(chain, baseUsdc.assetId))
    assert.isFalse(mayBuy(chain, baseBtc.assetId))
    assert.isTrue(mayBuy(chainWith({ ...listed, guard: limits }), baseBtc.assetId))
    const closed = chainWith({ ...listed, guard: { ...limits, closedTokens: [tokenOf(baseWeth.assetId)] } })
    assert.isTrue(mayBuy(closed, baseWeth.assetId))
    assert.isFalse(mayBuy(closed, baseUsdc.assetId))
    assert.deepStrictEqual(termsOf(closed), { tradeBps: 10, budgetBps: 20, closedList: [baseWeth.assetId] })
    assert.isTrue(isGuarded(closed))
    assert.isFalse(isGuarded(chain))
    assert.isUndefined(termsOf(chain))
  })

  it("what may leave is one asset, to the destinations that were signed", () => {
    const chain = chainWith(listed)
    assert.strictEqual(permittedBridgeAsset(chain), baseUsdc.assetId)
    assert.strictEqual(bridgeTo(chain, arbUsdc.assetId), namedContracts(chain)[2])
    assert.isUndefined(bridgeTo(chain, arbWeth.assetId))
    assert.isUndefined(bridgeTo(chain, spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")))
    const { bridge: _, ...closed } = listed
    assert.isUndefined(permittedBridgeAsset(chainWith(closed)))
    assert.strictEqual(chainIdOf(permittedBridgeAsset(chain)!), chain.chainId)
  })

  it("what it names are its tokens and the contracts that the agent may call", () => {
    const chain = chainWith(listed)
    assert.deepStrictEqual(
      namedTokens(chain).map((token) => token.toLowerCase()),
      [baseUsdc, baseWeth, baseUsdc].map(({ assetId }) => tokenOf(assetId).toLowerCase())
    )
    assert.lengthOf(namedContracts(chain), 3)
  })
})
