/** An account's tokens move by its owner's signature alone, exactly as the owner was shown, once and in time. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, type Hex, type LocalAccount, maxUint256, parseEventLogs, zeroAddress } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import {
  type Authorization,
  type Call,
  type Domain,
  domainOf,
  newAuthorization,
  newNonce,
  signed,
  submitCall,
  verdict
} from "#test/solidity/withdrawals.ts"
import { agent, enroll, EvmWorld, EvmWorldLive, fund, owner, relayer, stranger } from "#test/layers/evm/EvmWorld.ts"
import { balance, deployAccount } from "#test/layers/evm/tradingAccount.ts"

const recipient: Address = "0x52908400098527886E0F7030069857D2E4169EE7"
const wei = 10n ** 18n

/** A deployed account with 100 USDC and one WETH. */
const fundedAccount = Effect.fnUntraced(function* (index: bigint) {
  const { base } = yield* EvmWorld
  const enrollment = yield* enroll(index, [[base, "USDC", "WETH"]])
  yield* deployAccount(base, enrollment.authorization)
  yield* fund(base, enrollment.account, { symbol: "USDC", raw: 100_000_000n })
  yield* fund(base, enrollment.account, { symbol: "WETH", raw: wei })
  return { chain: base, account: enrollment.account as string as Address }
})

/** Lets a test send transactions in the account's name. */
const actAs = (chain: Chain, account: Address) =>
  Effect.promise(async () => {
    await chain.client.impersonateAccount({ address: account })
    await chain.client.setBalance({ address: account, value: wei })
  })
const unlocked = (address: Address) => ({ address, type: "json-rpc" }) as unknown as LocalAccount

/** The two calls by the sender who may make them: anybody, the relayer as any, withdraws; only the account settles. */
const kinds = ["withdraw", "settle"] as const
type Kind = (typeof kinds)[number]

const versionOf = { withdraw: "1", settle: "2" } as const

const callOf = (
  kind: Kind,
  chain: Chain,
  {
    account,
    authorization,
    signature
  }: { readonly account: Address; readonly authorization: Authorization; readonly signature: Hex }
): readonly [sender: Address, call: Call] =>
  kind === "withdraw"
    ? [relayer.address, { functionName: "withdraw", args: [account, authorization, signature] }]
    : [account, { functionName: "settle", args: [authorization, signature, tokenBySymbol(chain, "USDC").address, 0n] }]

interface Forgery {
  readonly signer?: LocalAccount
  readonly domain?: (domain: Domain) => Domain
  /** What is submitted in place of what was signed. */
  readonly submitted?: (authorization: Authorization) => Authorization
  readonly signature?: (signature: Hex) => Hex
}

const doubled = ({ assets, ...rest }: Authorization) => ({
  ...rest,
  assets: assets.map(({ amount, token }) => ({ token, amount: 2n * amount }))
})

const forgeries: ReadonlyArray<readonly [what: string, forgery: Forgery]> = [
  ["no signature", { signature: () => "0x" }],
  ["a signature of zeros", { signature: () => `0x${"00".repeat(65)}` }],
  ["a signature that is cut short", { signature: (signature) => signature.slice(0, -2) as Hex }],
  ["the agent's signature", { signer: agent }],
  ["the relayer's signature", { signer: relayer }],
  ["a stranger's signature", { signer: stranger }],
  ["another amount", { submitted: doubled }],
  ["another recipient", { submitted: (authorization) => ({ ...authorization, recipient: stranger.address }) }],
  [
    "another asset",
    {
      submitted: ({ assets: [first, second], ...rest }) => ({
        ...rest,
        assets: [first!, { ...second!, token: stranger.address }]
      })
    }
  ],
  ["an asset more", { submitted: ({ assets, ...rest }) => ({ ...rest, assets: [...assets, assets[0]!] }) }],
  ["an asset less", { submitted: ({ assets, ...rest }) => ({ ...rest, assets: assets.slice(1) }) }],
  ["another portfolio", { submitted: (authorization) => ({ ...authorization, portfolioId: "pf_other" }) }],
  ["another nonce", { submitted: (authorization) => ({ ...authorization, nonce: newNonce() }) }],
  ["a later expiry", { submitted: ({ expiresAt, ...rest }) => ({ ...rest, expiresAt: expiresAt + 1n }) }],
  ["what was signed for another chain", { domain: (domain) => ({ ...domain, chainId: 42161 }) }],
  ["what was signed for another account", { domain: (domain) => ({ ...domain, verifyingContract: stranger.address }) }],
  ["what was signed under another name", { domain: (domain) => ({ ...domain, name: "Other" }) }],
  [
    "what was signed in the other version",
    { domain: (domain) => ({ ...domain, version: domain.version === "1" ? "2" : "1" }) }
  ]
]

describe("WithdrawalExecutor", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("moves what the owner authorized, whoever submits it, and not twice", () =>
      Effect.gen(function* () {
        const { account, chain } = yield* fundedAccount(70n)
        const authorization = yield* newAuthorization(chain, recipient)
        const signature = yield* Effect.promise(() => signed(owner, domainOf(chain, account, "1"), authorization))
        const call: Call = { functionName: "withdraw", args: [account, authorization, signature] }
        const before = yield* balance(chain, "USDC", recipient as string as EvmAddress)
        const receipt = yield* submitCall(chain, stranger, call)
        assert.strictEqual(receipt.status, "success")
        const [event] = parseEventLogs({ abi: withdrawalExecutorAbi, logs: receipt.logs, eventName: "Withdrawn" })
        const digest = yield* Effect.promise(() =>
          chain.client.readContract({
            address: withdrawalExecutor,
            abi: withdrawalExecutorAbi,
            functionName: "digestOf",
            args: [account, authorization, false]
          })
        )
        assert.deepStrictEqual(event?.args, { account, nonce: authorization.nonce, digest })
        const after = yield* balance(chain, "USDC", recipient as string as EvmAddress)
        assert.strictEqual(after - before, 10_000_000n)
        assert.strictEqual(yield* balance(chain, "WETH", account as string as EvmAddress), wei - 1_000n)
        assert.strictEqual(yield* verdict(chain, stranger.address, call), "NonceUsed")
      })
    )

    it.effect("settles what exceeds the part that is kept, once, for the account alone", () =>
      Effect.gen(function* () {
        const { account, chain } = yield* fundedAccount(71n)
        const authorization = yield* newAuthorization(chain, recipient)
        const signature = yield* Effect.promise(() => signed(owner, domainOf(chain, account, "2"), authorization))
        const token = tokenBySymbol(chain, "USDC").address
        const settle = (keep: bigint): Call => ({
          functionName: "settle",
          args: [authorization, signature, token, keep]
        })
        assert.strictEqual(yield* verdict(chain, account, settle(100_000_000n)), "NothingToSettle")
        assert.strictEqual(yield* verdict(chain, account, settle(maxUint256)), "NothingToSettle")
        assert.strictEqual(yield* verdict(chain, stranger.address, settle(0n)), "NotInstalled")
        const held = yield* balance(chain, "USDC", recipient as string as EvmAddress)
        yield* actAs(chain, account)
        assert.strictEqual((yield* submitCall(chain, unlocked(account), settle(40_000_000n))).status, "success")
        assert.strictEqual((yield* balance(chain, "USDC", recipient as string as EvmAddress)) - held, 60_000_000n)
        assert.strictEqual(yield* balance(chain, "USDC", account as string as EvmAddress), 40_000_000n)
        assert.strictEqual(yield* verdict(chain, account, settle(0n)), "NonceUsed")
      })
    )

    for (const [index, kind] of kinds.entries()) {
      it.effect(`${kind} refuses whatever the owner did not sign`, () =>
        Effect.gen(function* () {
          const { account, chain } = yield* fundedAccount(BigInt(72 + index))
          const domain = domainOf(chain, account, versionOf[kind])
          const honest = yield* newAuthorization(chain, recipient)
          const honestly = yield* Effect.promise(() => signed(owner, domain, honest))
          assert.strictEqual(
            yield* verdict(chain, ...callOf(kind, chain, { account, authorization: honest, signature: honestly })),
            "accepted"
          )
          for (const [what, forgery] of forgeries) {
            const authorization = yield* newAuthorization(chain, recipient)
            const signature = yield* Effect.promise(() =>
              signed(forgery.signer ?? owner, forgery.domain?.(domain) ?? domain, authorization)
            )
            const submitted = forgery.submitted?.(authorization) ?? authorization
            const call = callOf(kind, chain, {
              account,
              authorization: submitted,
              signature: forgery.signature?.(signature) ?? signature
            })
            assert.strictEqual(yield* verdict(chain, ...call), "NotSignedByOwner", what)
          }
        })
      )

      it.effect(`${kind} refuses what makes no sense`, () =>
        Effect.gen(function* () {
          const { account, chain } = yield* fundedAccount(BigInt(74 + index))
          const attempt = Effect.fnUntraced(function* (change: Partial<Authorization>) {
            const authorization = { ...(yield* newAuthorization(chain, recipient)), ...change }
            const signature = yield* Effect.promise(() =>
              signed(owner, domainOf(chain, account, versionOf[kind]), authorization)
            )
            return yield* verdict(chain, ...callOf(kind, chain, { account, authorization, signature }))
          })
          assert.strictEqual(yield* attempt({ expiresAt: 0n }), "Expired")
          assert.strictEqual(yield* attempt({ recipient: zeroAddress }), "InvalidRecipient")
          assert.strictEqual(yield* attempt({ recipient: account }), "InvalidRecipient")
          assert.strictEqual(yield* attempt({ assets: [] }), "NoAssets")
        })
      )

      it.effect(`${kind} holds to its last second and no longer`, () =>
        Effect.gen(function* () {
          const { account, chain } = yield* fundedAccount(BigInt(76 + index))
          yield* actAs(chain, account)
          const inBlockAt = Effect.fnUntraced(function* (late: bigint) {
            const authorization = yield* newAuthorization(chain, recipient)
            const signature = yield* Effect.promise(() =>
              signed(owner, domainOf(chain, account, versionOf[kind]), authorization)
            )
            const [sender, call] = callOf(kind, chain, { account, authorization, signature })
            yield* Effect.promise(() =>
              chain.client.setNextBlockTimestamp({ timestamp: authorization.expiresAt + late })
            )
            return (yield* submitCall(chain, sender === account ? unlocked(account) : stranger, call)).status
          })
          assert.strictEqual(yield* inBlockAt(0n), "success")
          assert.strictEqual(yield* inBlockAt(1n), "reverted")
        })
      )
    }

    it.effect("an account without the module has nothing to withdraw", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { account } = yield* enroll(80n, [[base, "USDC"]])
        const at = account as string as Address
        const authorization = yield* newAuthorization(base, recipient)
        const signature = yield* Effect.promise(() => signed(owner, domainOf(base, at, "1"), authorization))
        const call: Call = { functionName: "withdraw", args: [at, authorization, signature] }
        assert.strictEqual(yield* verdict(base, stranger.address, call), "NotInstalled")
      })
    )

    it.effect("all or nothing: one transfer that fails gives the nonce back", () =>
      Effect.gen(function* () {
        const { account, chain } = yield* fundedAccount(81n)
        const authorization = yield* newAuthorization(chain, recipient)
        const tooMuch = doubled({ ...authorization, assets: authorization.assets.map((a) => ({ ...a, amount: wei })) })
        const signature = yield* Effect.promise(() => signed(owner, domainOf(chain, account, "1"), tooMuch))
        const call: Call = { functionName: "withdraw", args: [account, tooMuch, signature] }
        const receipt = yield* submitCall(chain, stranger, call)
        assert.strictEqual(receipt.status, "reverted")
        assert.strictEqual(yield* balance(chain, "WETH", account as string as EvmAddress), wei)
        const used = yield* Effect.promise(() =>
          chain.client.readContract({
            address: withdrawalExecutor,
            abi: withdrawalExecutorAbi,
            functionName: "isUsed",
            args: [account, authorization.nonce]
          })
        )
        assert.isFalse(used)
      })
    )
  })
})
