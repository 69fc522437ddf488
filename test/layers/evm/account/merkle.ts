/**
 * A Merkle tree of addresses as OpenZeppelin's standard has it, written down a second time: leaves hashed twice, pairs
 * sorted.
 */
import { concatHex, encodeAbiParameters, type Hex, keccak256 } from "viem"

const leafOf = (address: string): Hex =>
  keccak256(keccak256(encodeAbiParameters([{ type: "address" }], [address as Hex])))

const parentOf = (a: Hex, b: Hex): Hex => keccak256(concatHex(a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]))

/** Layers from the leaves to the root; what has no neighbour is included up. */
const layersOf = (addresses: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<Hex>> => {
  const layers: Array<ReadonlyArray<Hex>> = [addresses.map(leafOf)]
  for (let layer = layers[0]!; layer.length > 1; layer = layers.at(-1)!) {
    layers.push(
      layer.flatMap((node, index) => {
        if (index % 2 === 1) return []
        const neighbour = layer[index + 1]
        return [neighbour === undefined ? node : parentOf(node, neighbour)]
      })
    )
  }
  return layers
}

export const StandardMerkleTree = {
  rootOf: (addresses: ReadonlyArray<string>): Hex => layersOf(addresses).at(-1)![0]!,
  proofOf: (addresses: ReadonlyArray<string>, address: string): ReadonlyArray<Hex> => {
    let place = addresses.indexOf(address)
    return layersOf(addresses).flatMap((layer) => {
      const neighbour = layer[place % 2 === 0 ? place + 1 : place - 1]
      place = Math.floor(place / 2)
      return layer.length > 1 && neighbour !== undefined ? [neighbour] : []
    })
  }
}
