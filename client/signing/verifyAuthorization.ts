/**
 * Computes again what an owner is asked to sign at an enrollment, an activation or a renewal, and says what it
 * authorizes. A blind signature over 32 bytes could authorize anything; this one is over the parts, or it throws.
 */
import { type Address, type Hex, keccak256, zeroHash } from "viem"
import { accountAddress, enableDigest } from "#client/signing/account.ts"
import { Altered, requireSame } from "#client/signing/Altered.ts"
import { inWords } from "#client/signing/inWords.ts"
import { merkleRoot } from "#client/signing/merkleRoot.ts"
import { permissionData } from "#client/signing/permission.ts"
import type { SignedChain, SignedParts, Stage1 } from "#client/signing/stage1.ts"

/** What the owner knows by itself, and does not take from the service's answer. */
export interface Expected {
  /** CAIP-10 of the owner's wallet, `eip155:0:0x...`. */
  readonly ownerAccountId: string
  /** The chains that were asked for. */
  readonly chainIds: ReadonlyArray<number>
  /** The agent that the owner trusts, as the deployment publishes it; not compared when left out. */
  readonly agentAccountId?: string
  /** The account that the portfolio has already, for activations and renewals. */
  readonly account?: string
}

export interface Verified {
  /** The account, the same on every chain. */
  readonly account: Address
  /** What the signature authorizes, a sentence each. */
  readonly sentences: ReadonlyArray<string>
}

const addressIn = (accountId: string) => accountId.slice(accountId.lastIndexOf(":") + 1) as Address

const requireDigest = (chain: SignedChain, part: string, permission: Hex): void => {
  const digest = enableDigest({
    chainId: chain.chainId,
    account: addressIn(chain.accountId),
    permissionId: chain.permissionId as Hex,
    nonce: chain.enableNonce,
    permission
  })
  const isPolicyKnown = keccak256(permission) === chain.permissionHash.toLowerCase()
  if (digest === chain.digest.toLowerCase()) {
    if (isPolicyKnown) return
    throw new Altered(`${part}.permissionHash`, "is not the hash of the policy that is signed")
  }
  if (!isPolicyKnown) {
    throw new Altered(`${part}.policy`, "or agentAccountId is not what the digest was made of")
  }
  throw new Altered(`${part}.permissionId`, "or enableNonce is not what the digest was made of")
}

const requireMessage = ({ accountType, message }: Stage1, parts: SignedParts): void => {
  const digests = parts.chains.map(({ digest }) => digest.toLowerCase() as Hex)
  const root = digests.length === 0 ? zeroHash : merkleRoot(digests)
  requireSame("root", { given: parts.root, expected: root }, "is not the root of the chains' digests")
  if (message.kind === "ecdsa") {
    if (accountType !== "ECDSA") throw new Altered("message.kind", "is not that of the account's type")
    return requireSame("message.raw", { given: message.raw, expected: root }, "is not computed from the parts")
  }
  if (message.kind === "solana-message") throw new Altered("message.kind", "is for owners with a Solana key")
  const { domain } = message.typedData
  const [chain] = parts.chains
  if (accountType !== "ERC1271" || chain === undefined || parts.chains.length > 1) {
    throw new Altered("message.kind", "is for a contract's one chain")
  }
  requireSame(
    "message.typedData.message.hash",
    { given: message.typedData.message.hash, expected: root },
    "is not computed from the parts"
  )
  requireSame(
    "message.typedData.domain.chainId",
    { given: `${domain.chainId}`, expected: `${chain.chainId}` },
    "is another chain"
  )
  const account = addressIn(chain.accountId)
  requireSame(
    "message.typedData.domain.verifyingContract",
    { given: domain.verifyingContract, expected: account },
    "is another account"
  )
}

/** Throws `Altered` with the part's name; nothing may be signed then. */
export const verifyAuthorization = (stage1: Stage1, expected: Expected): Verified => {
  const { accountIndex, accountType, agentAccountId, authorization: parts } = stage1
  if (parts === undefined) {
    throw new Altered("authorization", "is missing, so what would be signed is not known; ask stage 1 anew")
  }
  const { agentAccountId: trusted } = expected
  if (trusted !== undefined)
    requireSame("agentAccountId", { given: agentAccountId, expected: trusted }, "is not the agent that you trust")
  const account = accountAddress({
    accountType,
    owner: addressIn(expected.ownerAccountId),
    accountIndex: BigInt(accountIndex),
    withdrawalDomainName: parts.withdrawalDomainName
  })
  if (expected.account !== undefined) {
    requireSame(
      "accountIndex",
      { given: account, expected: expected.account },
      "or withdrawalDomainName does not give your account's address"
    )
  }
  for (const [index, chain] of parts.chains.entries()) {
    const part = `chains.${index}`
    if (!expected.chainIds.includes(chain.chainId)) {
      throw new Altered(`${part}.chainId`, `is none of the chains that were asked for: it is ${chain.chainId}`)
    }
    const own = `eip155:${chain.chainId}:${account}`
    requireSame(
      `${part}.accountId`,
      { given: chain.accountId, expected: own },
      `is not the owner's account on chain ${chain.chainId}`
    )
    const settles = parts.withdrawalDomainName !== null
    requireDigest(
      chain,
      part,
      permissionData({ policy: chain.policy, account, agent: addressIn(agentAccountId), settles })
    )
  }
  requireMessage(stage1, parts)
  return { account, sentences: inWords(parts, account, addressIn(agentAccountId)) }
}
