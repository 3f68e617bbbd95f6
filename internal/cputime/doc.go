// Package cputime tells how much processor time a thread has spent, which unlike the time on the wall does not depend on what
// else the machine does. Who compares two times stays on its thread meanwhile, by [runtime.LockOSThread].
package cputime
