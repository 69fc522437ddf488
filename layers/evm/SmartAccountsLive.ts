/**
 * Enrollment on Kernel accounts: computed without a chain; an account is deployed with its first operation. Only an
 * owner that is a contract is called, on its chain.
 */
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { bytesToHex, type Hex, keccak256 } from "viem"
import {
  type AccountId,
  type ChainId,
  evmAccount,
  type EvmAddress,
  evmWallet,
  type WalletId
} from "#domain/values/Caip.ts"
import {
  type AgentPolicy,
  type Authorization,
  type TradeGuardPolicy,
  type BridgePolicy,
  PermissionId
} from "#domain/account/Authorization.ts"
import type { GuardTerms } from "#domain/account/Permission.ts"
import type { OwnerDigest } from "#domain/account/OwnerMessage.ts"
import { type AuthorizationRequest, SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { AgentSigner } from "#domain/relay/Signer.ts"
import { permissionData } from "#layers/evm/account/agentPermission.ts"
import { hasCode, isSignedByContract } from "#layers/evm/account/contractOwner.ts"
import { readEnableNonce } from "#layers/evm/account/enableNonce.ts"
import { digestRoot } from "#layers/evm/account/digestTree.ts"
import { enableDigest, nonceOfFreshAccount } from "#layers/evm/account/enableMessage.ts"
import { accountAddress } from "#layers/evm/account/kernelAccount.ts"
import { signerOf } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, addressesOf, fromViem, toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig, type EvmChain } from "#layers/evm/EvmConfig.ts"
import { runnerOf } from "#layers/evm/tradeGuard.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"

const bridgeTokenOn = ({ bridge, chainId }: EvmChain) => {
  const asset = bridge === undefined ? undefined : usdcOn(chainId)
  return asset === undefined ? undefined : addressOf(asset)
}

/**
 * What an owner allows to leave a chain: its USDC, for every other chain that has a bridge.
 *
 * Undefined when the chain has no bridge, or no other chain to send to.
 */
const bridgePolicy = (chain: EvmChain, chains: ReadonlyArray<EvmChain>): BridgePolicy | undefined => {
  const token = bridgeTokenOn(chain)
  const [first, ...others] = chains.flatMap((other) => {
    const bridgeToken = bridgeTokenOn(other)
    return other.chainId === chain.chainId || bridgeToken === undefined
      ? []
      : [{ chainId: other.chainId, token: bridgeToken }]
  })
  if (chain.bridge === undefined || token === undefined || first === undefined) return undefined
  return { contract: chain.bridge, token, destinations: [first, ...others] }
}

const noPermission = "0x00000000"

/** How long a permission holds under the guard. */
const permissionDays = 180
/** What the owner signs of the guard: its time, and limits, where there are none the guard's own. */
const issueGuarded = Effect.fnUntraced(function* (contract: EvmAddress, terms: GuardTerms | undefined) {
  const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const policy: TradeGuardPolicy = {
    contract,
    issuedAt,
    validUntil: issuedAt + permissionDays * 86_400,
    tradeBps: terms?.tradeBps ?? 0,
    budgetBps: terms?.budgetBps ?? 0,
    ...(terms?.closedList === undefined ? {} : { closedTokens: addressesOf(terms.closedList) })
  }
  return policy
})

export const SmartAccountsLive = Layer.effect(
  SmartAccounts,
  Effect.gen(function* () {
    const { chains } = yield* EvmConfig
    const agent = toViem((yield* AgentSigner).address)
    const clients = yield* EvmClients
    const random = yield* SecureRandom.SecureRandom
    const configured = new Map(chains.map((chain) => [chain.chainId, chain]))

    /** Kernel keeps ids for ever, even of revoked permissions, and reads all zeros as "none". */
    const drawPermissionId = random
      .randomBytes(4)
      .pipe(Effect.map(bytesToHex), Effect.repeat({ until: (id) => id !== noPermission }))

    const authorizeChain = Effect.fnUntraced(function* (
      account: EvmAddress,
      { accountType, withdrawalDomainName }: AuthorizationRequest,
      { chainId, enableNonce = nonceOfFreshAccount, terms, assets }: AuthorizationRequest["chains"][number]
    ) {
      const chain = configured.get(chainId)
      if (chain === undefined) return yield* Effect.die(new Error(`Chain ${chainId} has no EVM configuration`))
      const permissionId = yield* drawPermissionId
      const guard = chain.guard === undefined ? undefined : yield* issueGuarded(chain.guard, terms)
      // A contract owner rules on its own chain only: what arrived elsewhere would be out of its reach.
      const connected = accountType === "ECDSA" ? bridgePolicy(chain, chains) : undefined
      const isClosedTo = (token: EvmAddress) => guard?.closedTokens?.includes(token) === false
      const bridge = connected === undefined || isClosedTo(connected.token) ? undefined : connected
      const routes = chain.routedSwap && (guard ? runnerOf(guard.contract) : chain.routedSwap.contract)
      const policy: AgentPolicy = {
        _tag: "Evm",
        router: chain.router,
        connectorTokens: chain.connectorTokens,
        tokens: assets.map(addressOf),
        ...(guard === undefined ? {} : { guard }),
        ...(routes === undefined ? {} : { routedSwap: routes }),
        ...(bridge === undefined ? {} : { bridge })
      }
      const permission = permissionData({ policy, account, agent, settles: withdrawalDomainName !== null })
      return {
        chainId,
        accountId: evmAccount(chainId, account),
        permissionId: PermissionId.make(permissionId),
        policy,
        enableNonce,
        permissionHash: keccak256(permission),
        digest: enableDigest({ chainId, account, permissionId, permission, nonce: enableNonce })
      }
    })

    const authorize = Effect.fn("SmartAccounts.authorize")(function* (request: AuthorizationRequest) {
      const { chains: requested, ...maker } = request
      if (maker.accountType === "ERC1271" && requested.length !== 1) {
        return yield* Effect.die(new Error("A contract owner authorizes exactly one chain"))
      }
      const account = accountAddress(maker)
      const [first, ...others] = yield* Effect.forEach(requested, (chain) => authorizeChain(account, request, chain))
      if (first === undefined) return yield* Effect.die(new Error("An authorization needs at least one chain"))
      const authorized = [first, ...others] as const
      const authorization: Authorization = {
        _tag: "Evm",
        ...maker,
        agentAccountId: evmWallet(fromViem(agent)),
        chains: authorized,
        root: digestRoot(authorized.map(({ digest }) => digest as Hex))
      }
      return authorization
    })

    const enableNonce = Effect.fn("SmartAccounts.enableNonce")((accountId: AccountId) =>
      Effect.provideService(readEnableNonce(accountId), EvmClients, clients)
    )

    const isContract = Effect.fn("SmartAccounts.isContract")((owner: WalletId, chainId: ChainId) =>
      Effect.provideService(hasCode(owner, chainId), EvmClients, clients)
    )

    const isSignedByOwner = Effect.fn("SmartAccounts.isSignedByOwner")(function* (
      digest: OwnerDigest,
      signature: string
    ) {
      if (digest.accountType === "ERC1271") {
        return yield* Effect.provideService(isSignedByContract(digest, signature), EvmClients, clients)
      }
      const signer = yield* Effect.promise(() => signerOf({ raw: digest.root as Hex }, signature))
      return signer === addressOf(digest.ownerAccountId)
    })

    const isTextSignedByOwner = Effect.fn("SmartAccounts.isTextSignedByOwner")(
      (owner: WalletId, text: string, signature: string) =>
        Effect.map(
          Effect.promise(() => signerOf(text, signature)),
          (signer) => signer === addressOf(owner)
        )
    )

    return SmartAccounts.of({ authorize, enableNonce, isContract, isSignedByOwner, isTextSignedByOwner })
  })
)
