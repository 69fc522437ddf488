// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What the tests use of forge's cheat codes
interface Vm {
    function warp(uint256 time) external;
    function getBlockTimestamp() external view returns (uint256);
    function prank(address sender) external;
    function chainId(uint256 id) external;
    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function assume(bool condition) external pure;
    function expectRevert(bytes4 selector) external;
    function expectPartialRevert(bytes4 selector) external;
    function expectRevert() external;
    function etch(address target, bytes calldata code) external;
    function getCode(string calldata artifact) external view returns (bytes memory);
}

abstract contract Cheats {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function assertEq(uint256 a, uint256 b, string memory what) internal pure {
        if (a != b) revert(string.concat(what, ": ", _text(a), " is not ", _text(b)));
    }

    function assertLe(uint256 a, uint256 b, string memory what) internal pure {
        if (a > b) revert(string.concat(what, ": ", _text(a), " is more than ", _text(b)));
    }

    function assertTrue(bool condition, string memory what) internal pure {
        if (!condition) revert(what);
    }

    /// @dev Folds any number into a range, both ends included.
    function _within(uint256 seed, uint256 least, uint256 most) internal pure returns (uint256) {
        return least + seed % (most - least + 1);
    }

    function _signature(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function _text(uint256 value) private pure returns (string memory) {
        if (value == 0) return "0";
        bytes memory digits = new bytes(78);
        uint256 start = 78;
        for (; value != 0; value /= 10) digits[--start] = bytes1(uint8(48 + value % 10));
        bytes memory text = new bytes(78 - start);
        for (uint256 i; i < text.length; ++i) text[i] = digits[start + i];
        return string(text);
    }
}
