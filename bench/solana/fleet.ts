/** Portfolios of Solana owners: wallets on the chain, as enrollment makes them, and their rows. */
import { Keypair, VersionedTransaction } from "@solana/web3.js"
import { Console, DateTime, Effect, Option } from "effect"
import { bytesToHex } from "viem"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { solanaAccount, solanaChainId, type SolanaWalletId } from "#domain/values/Caip.ts"
import * as Ids from "#domain/values/Ids.ts"
import { acceptFromSolanaOwner, issueForSolanaOwner } from "#layers/solana/enrollment/solanaOwner.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import { splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { issue } from "#sandbox/solana/market/issuer.ts"
import type { SolanaChain } from "#bench/solana/solanaChain.ts"
import { tenantOfHalves } from "#bench/tenantOfHalves.ts"

/** What a portfolio is half of, each. */
export const halves = splCatalog.filter(({ symbol }) => symbol === "USDC" || symbol === "JUP")
/** New dollars of each account in a round; half are to be sold, so few that the pool stays near its price. */
export const tenDollars = 10_000_000n

export interface Member extends PortfolioRole {
  readonly owner: string
}

/** A wallet on the chain, whose owner signed the transaction that made it. */
const enroll = Effect.fnUntraced(function* (tenantId: Ids.TenantId) {
  const { agent, fees } = yield* (yield* SolanaAgent).signing
  const owner = Keypair.generate()
  const terms = { tenantId, owner: owner.publicKey, brand: "Ballast", fees }
  const { flow, transaction } = yield* issueForSolanaOwner({ ...terms, agent: agent.key })
  const issued = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"))
  issued.sign([owner])
  const signedTransaction = Buffer.from(issued.serialize()).toString("base64")
  const attempt = yield* acceptFromSolanaOwner({ fees, flow, owner: owner.publicKey, agent, signedTransaction })
  const rpc = yield* SolanaRpc
  yield* rpc.send(attempt.transaction)
  const { values } = yield* rpc.statuses([attempt.signature])
  if (Option.isNone(values[0]!)) return yield* Effect.die(new Error("A wallet was not made"))
  const { roleId, walletId } = flow
  return { walletId, roleId, owner: owner.publicKey.toBase58() } satisfies Member
})

const store = Effect.fnUntraced(function* (
  member: Member,
  { strategyId, tenantId }: Effect.Success<ReturnType<typeof tenantOfHalves>>
) {
  const { agent } = yield* (yield* SolanaAgent).signing
  const enrollments = yield* EnrollmentStore
  const createdAt = yield* DateTime.now
  const portfolioId = yield* Ids.makePortfolioId
  const accountId = solanaAccount(addressesOf(member).deposit.toBase58())
  const wallet = (key: string) => solanaAccount(key) as string as SolanaWalletId
  const root = `0x${"5a".repeat(32)}` as const
  const flow = {
    flowId: yield* Ids.makeFlowId,
    tenantId,
    purpose: { _tag: "Enroll" as const },
    strategyId,
    authorization: {
      _tag: "Solana" as const,
      accountType: "ECDSA" as const,
      ownerAccountId: wallet(member.owner),
      accountIndex: 0n,
      withdrawalDomainName: "Ballast Withdrawal Authorization",
      agentAccountId: wallet(agent.key.toBase58()),
      chains: [
        {
          chainId: solanaChainId,
          accountId,
          permissionId: PermissionId.make("0x00000001"),
          policy: { _tag: "Solana" as const, walletId: bytesToHex(member.walletId), roleId: member.roleId },
          digest: root
        }
      ] as const,
      root
    },
    createdAt,
    expiresAt: DateTime.add(createdAt, { days: 1 })
  }
  yield* enrollments.insertFlow(flow)
  const committed = yield* enrollments.commit(
    { portfolioId, name: null, flow, ownerSignature: "", dueAt: DateTime.add(createdAt, { days: 30 }), createdAt },
    { _tag: "Enrolled", portfolioId, portfolioName: null, strategyId, smartAccounts: [accountId] }
  )
  if (committed._tag !== "Committed") return yield* Effect.die(new Error(`A portfolio was refused: ${committed._tag}`))
})

/** `count` wallets; those of portfolios are stored too. */
export const enlist = Effect.fnUntraced(function* (count: number, areStored: boolean) {
  const tenant = yield* tenantOfHalves(solanaChainId, halves)
  const members = yield* Effect.forEach(Array.from({ length: count }), () =>
    Effect.gen(function* () {
      const member = yield* enroll(tenant.tenantId)
      if (areStored) yield* store(member, tenant)
      return member
    })
  )
  yield* Console.log(`  ${areStored ? "portfolios enrolled" : "wallets of the bare script made"}: ${count}`)
  return members
})

export const fund = ({ ledger }: SolanaChain, members: ReadonlyArray<Member>) =>
  Effect.sync(() => {
    for (const member of members) {
      issue(ledger, addressesOf(member).deposit, { token: usdc, amountRaw: tenDollars })
    }
  })
