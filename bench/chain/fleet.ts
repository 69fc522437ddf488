/** Portfolios of real accounts: each owner signs its permission, each account is funded on the chain. */
import { Console, DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { bytesToHex, encodeFunctionData, erc20Abi, type Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { progress } from "#bench/chain/world.ts"
import { tenantOfHalves } from "#bench/tenantOfHalves.ts"
import type { Authorization } from "#domain/account/Authorization.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { type ChainId, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import * as Ids from "#domain/values/Ids.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"

/** An account, what its owner allowed, and by which signature. */
export interface Member {
  readonly authorization: Authorization
  readonly ownerSignature: string
  readonly account: EvmAddress
}

const hundredDollars = 100_000_000n

/** What each account holds after a rebalance: half dollars, half ether. */
const halves = (chain: Chain) => ["USDC", "WETH"].map((symbol) => tokenBySymbol(chain, symbol))

/** A new owner's permission for an account that no chain knows yet. */
const signed = Effect.fnUntraced(function* (chain: Chain) {
  const random = yield* SecureRandom.SecureRandom
  const owner = privateKeyToAccount(bytesToHex(yield* random.randomBytes(32)))
  const authorization = yield* (yield* SmartAccounts).authorize({
    accountType: "ECDSA",
    ownerAccountId: evmWallet(owner.address as string as EvmAddress),
    accountIndex: 0n,
    withdrawalDomainName: "Ballast Withdrawal Authorization",
    chains: [{ chainId: chain.chainId as ChainId, assets: halves(chain).map(({ assetId }) => assetId) }]
  })
  const ownerSignature = yield* Effect.promise(() => owner.signMessage({ message: { raw: authorization.root as Hex } }))
  const member: Member = { authorization, ownerSignature, account: addressOf(authorization.chains[0].accountId) }
  return member
})

const store = Effect.fnUntraced(function* (
  { authorization, ownerSignature }: Member,
  { strategyId, tenantId }: Effect.Success<ReturnType<typeof tenantOfHalves>>
) {
  const enrollments = yield* EnrollmentStore
  const createdAt = yield* DateTime.now
  const portfolioId = yield* Ids.makePortfolioId
  const flow = {
    flowId: yield* Ids.makeFlowId,
    tenantId,
    purpose: { _tag: "Enroll" as const },
    strategyId,
    authorization,
    createdAt,
    expiresAt: DateTime.add(createdAt, { days: 1 })
  }
  yield* enrollments.insertFlow(flow)
  const smartAccounts = authorization.chains.map(({ accountId }) => accountId)
  const committed = yield* enrollments.commit(
    { portfolioId, name: null, flow, ownerSignature, dueAt: DateTime.add(createdAt, { days: 30 }), createdAt },
    { _tag: "Enrolled", portfolioId, portfolioName: null, strategyId, smartAccounts }
  )
  if (committed._tag !== "Committed") return yield* Effect.die(new Error(`A portfolio was refused: ${committed._tag}`))
})

/** `count` accounts; those of portfolios are stored too. */
export const enlist = Effect.fnUntraced(function* (chain: Chain, count: number, areStored: boolean) {
  const tenant = areStored ? yield* tenantOfHalves(chain.chainId as ChainId, halves(chain)) : undefined
  const report = progress(areStored ? "portfolios enrolled" : "accounts of the bare script signed", count)
  let done = 0
  return yield* Effect.forEach(Array.from({ length: count }), () =>
    Effect.gen(function* () {
      const member = yield* signed(chain)
      if (tenant !== undefined) yield* store(member, tenant)
      done += 1
      yield* report(done)
      return member
    })
  )
})

/** Accounts that one transaction funds. */
const fundedTogether = 200

/**
 * A hundred dollars more for each account, so that fifty of them are to be sold: issued to Multicall3, which hands them
 * out within its own call. Few transactions, as anvil mines for as many blocks as it was sent transactions.
 */
export const fund = Effect.fnUntraced(function* (chain: Chain, members: ReadonlyArray<Member>) {
  const { client, contracts, treasuryAbi } = chain
  const token = tokenBySymbol(chain, "USDC").address
  const handOut = (part: ReadonlyArray<Member>) => {
    const transfers = part.map(({ account }) => ({
      target: token,
      allowFailure: false,
      callData: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [toViem(account), hundredDollars] })
    }))
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [transfers] })
    return operate(client, { what: "hand out dollars", to: multicall3, data })
  }
  const issued = hundredDollars * BigInt(members.length)
  const issue = encodeFunctionData({ abi: treasuryAbi, functionName: "issue", args: [token, multicall3, issued] })
  yield* operate(client, { what: "issue dollars", to: contracts.treasury, data: issue })
  for (let from = 0; from < members.length; from += fundedTogether)
    yield* handOut(members.slice(from, from + fundedTogether))
  yield* Console.log(`  accounts funded: ${members.length}`)
})

export const makeAllDue = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE schedules SET due_at = timestamptz '2026-01-01T00:00:00Z'`
)
