/** A wallet that is a contract (ERC-1271), deployed on a chain of a world, with the key that signs for it. */
import { Effect } from "effect"
import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  parseEther,
  publicActions,
  type TypedDataDefinition,
  walletActions
} from "viem"
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"

export interface ContractWallet {
  readonly address: Address
  readonly signer: PrivateKeyAccount
  /** What the wallet accepts as its signature over EIP-712 data. */
  readonly signTypedData: (typedData: unknown) => Promise<Hex>
  /** Hands the wallet to another key, which voids what this one signed. */
  readonly replaceSigner: (next: Address) => Promise<void>
}

export const deployContractWallet = async (rpcUrl: string): Promise<ContractWallet> => {
  const { own } = await Effect.runPromise(loadContracts)
  const { abi, creation } = own("ContractWallet")
  const signer = privateKeyToAccount(generatePrivateKey())
  const client = createTestClient({ mode: "anvil", transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)
  await client.setBalance({ address: signer.address, value: parseEther("1") })

  const send = async (data: Hex, to: Address | null) => {
    const hash = await client.sendTransaction({ account: signer, chain: null, data, to })
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== "success") throw new Error("The contract wallet's transaction was reverted")
    return receipt
  }

  const { contractAddress } = await send(encodeDeployData({ abi, bytecode: creation, args: [signer.address] }), null)
  const address = contractAddress!
  return {
    address,
    signer,
    signTypedData: (typedData) => signer.signTypedData(typedData as TypedDataDefinition),
    replaceSigner: async (next) => {
      await send(encodeFunctionData({ abi, functionName: "replaceSigner", args: [next] }), address)
    }
  }
}
