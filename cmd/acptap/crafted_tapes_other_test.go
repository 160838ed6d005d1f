//go:build !linux

package main

func measured() { main() }
