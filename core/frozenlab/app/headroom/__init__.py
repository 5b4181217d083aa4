"""The Headroom page: what can be won here?"""
