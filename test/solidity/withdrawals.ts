/** Withdrawals as an owner's wallet signs them and as anybody may submit them. */
import { Effect } from "effect"
import {
  type Address,
  type BaseError,
  ContractFunctionRevertedError,
  type Hex,
  keccak256,
  type LocalAccount,
  toHex,
  type TypedDataDefinition
} from "viem"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { withdrawalDomainName } from "#test/layers/evm/EvmWorld.ts"

export interface Authorization {
  readonly portfolioId: string
  readonly recipient: Address
  readonly assets: ReadonlyArray<{ readonly token: Address; readonly amount: bigint }>
  readonly nonce: Hex
  readonly expiresAt: bigint
}

/** Domain in which it is signed. Version "2" is that of liquidating withdrawals. */
export interface Domain {
  readonly name: string
  readonly version: "1" | "2"
  readonly chainId: number
  readonly verifyingContract: Address
}

const asset = [
  { name: "assetId", type: "string" },
  { name: "amountRaw", type: "string" }
]

const members = [
  { name: "portfolioId", type: "string" },
  { name: "recipientAccountId", type: "string" },
  { name: "assets", type: "WithdrawalAsset[]" },
  { name: "nonce", type: "bytes32" },
  { name: "expiresAt", type: "uint256" }
]

/** Shapes 2.22, written down a second time. */
export const typedData = (domain: Domain, authorization: Authorization): TypedDataDefinition => {
  const { assets, expiresAt, nonce, portfolioId, recipient } = authorization
  const liquidates = domain.version === "2"
  return {
    domain,
    primaryType: "Withdrawal",
    types: {
      Withdrawal: liquidates ? [...members, { name: "liquidate", type: "bool" }] : members,
      WithdrawalAsset: asset
    },
    message: {
      portfolioId,
      recipientAccountId: `eip155:${domain.chainId}:${recipient}`,
      assets: assets.map(({ amount, token }) => ({
        assetId: `eip155:${domain.chainId}/erc20:${token}`,
        amountRaw: amount.toString()
      })),
      nonce,
      expiresAt,
      ...(liquidates ? { liquidate: true } : {})
    }
  }
}

export const domainOf = (chain: Chain, account: Address, version: "1" | "2"): Domain => ({
  name: withdrawalDomainName,
  version,
  chainId: chain.chainId,
  verifyingContract: account
})

export const signed = (signer: LocalAccount, domain: Domain, authorization: Authorization): Promise<Hex> =>
  signer.signTypedData(typedData(domain, authorization))

let drawn = 0

export const newNonce = () => {
  drawn += 1
  return keccak256(toHex(`nonce ${drawn}`))
}

export const chainTime = (chain: Chain) =>
  Effect.promise(async () => (await chain.client.getBlock({ blockTag: "latest" })).timestamp)

/** Ten USDC and a little WETH to a recipient, good for ten minutes of the chain. */
export const newAuthorization = Effect.fnUntraced(function* (chain: Chain, recipient: Address) {
  const authorization: Authorization = {
    portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8",
    recipient,
    assets: [
      { token: tokenBySymbol(chain, "USDC").address, amount: 10_000_000n },
      { token: tokenBySymbol(chain, "WETH").address, amount: 1_000n }
    ],
    nonce: newNonce(),
    expiresAt: (yield* chainTime(chain)) + 600n
  }
  return authorization
})

export type Call =
  | { readonly functionName: "withdraw"; readonly args: readonly [Address, Authorization, Hex] }
  | { readonly functionName: "settle"; readonly args: readonly [Authorization, Hex, Address, bigint] }

/** The name of the error with which the executor refuses the call, or "accepted". Nothing is sent. */
export const verdict = (chain: Chain, sender: Address, call: Call) =>
  Effect.promise(() =>
    chain.client
      .simulateContract({
        address: withdrawalExecutor,
        abi: withdrawalExecutorAbi,
        account: sender,
        ...(call as { functionName: "withdraw"; args: never })
      })
      .then(
        () => "accepted",
        (error: BaseError) => {
          const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
          return reverted instanceof ContractFunctionRevertedError
            ? (reverted.data?.errorName ?? reverted.signature ?? "reverted")
            : error.shortMessage
        }
      )
  )

/** Sends the call in a transaction. */
export const submitCall = (chain: Chain, sender: LocalAccount, call: Call) =>
  Effect.promise(async () => {
    const hash = await chain.client.writeContract({
      address: withdrawalExecutor,
      abi: withdrawalExecutorAbi,
      account: sender,
      chain: null,
      gas: 2_000_000n,
      ...(call as { functionName: "withdraw"; args: never })
    })
    return chain.client.waitForTransactionReceipt({ hash })
  })
